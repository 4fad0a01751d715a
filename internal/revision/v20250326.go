package revision

import (
	"cmp"

	"github.com/ferrymcp/ferry/mcp"
)

// Streamable HTTP replaced HTTP+SSE; JSON-RPC batches; tool annotations;
// audio content; the completions capability; a message in progress
// notifications.
var rev20250326 = &Revision{
	name:     "2025-03-26",
	features: ServerRequests | NotFoundCode | Batches | ResumableStreams | SamplingAudio,
	methods:  featureMethods.plus(changeNotifications, sessionMethods),
	undo: undo{
		members:      []string{"content", "messages", "tools"},
		tool:         func(t *mcp.Tool) { t.Annotations = nil },
		content:      audioAsResource,
		capabilities: func(c *mcp.ServerCapabilities) { c.Completions = nil },
		progress:     func(p *mcp.ProgressParams) { p.Message = "" },
		sampled:      silentSample,
	},
}

// audioAsResource embeds an audio block as a binary resource, the nearest
// thing a peer without audio blocks can show or save.
func audioAsResource(c *mcp.Content) {
	if c.Type != mcp.TypeAudio {
		return
	}
	blob := mcp.BlobResource("audio:inline", cmp.Or(c.MIMEType, "application/octet-stream"), c.Data)
	*c = mcp.Content{Type: mcp.TypeResource, Resource: &blob, Annotations: c.Annotations, Meta: c.Meta}
}

// silentSample says that a model gave audio, which peers without audio blocks
// can be shown in no other way: models give no resources.
func silentSample(r *mcp.CreateMessageResult) {
	if len(r.Content) == 1 && r.Content[0].Type == mcp.TypeAudio {
		r.Content = mcp.SamplingContent{mcp.Text("(" + cmp.Or(r.Content[0].MIMEType, "audio") + ")")}
	}
}

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
	features: ServerRequests | NotFoundCode | Batches,
	methods:  featureMethods.plus(changeNotifications, sessionMethods),
	undo: undo{
		members:      []string{"content", "messages", "tools"},
		tool:         func(t *mcp.Tool) { t.Annotations = nil },
		content:      audioAsResource,
		capabilities: func(c *mcp.ServerCapabilities) { c.Completions = nil },
		progress:     func(p *mcp.ProgressParams) { p.Message = "" },
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

package revision

import (
	"strings"

	"github.com/ferrymcp/ferry/mcp"
)

// Icons; descriptions of implementations; URL elicitation and titled enums;
// tools in sampling; resumable polling of streams; tasks (experimental).
var rev20251125 = &Revision{
	name: "2025-11-25",
	features: ServerRequests | NotFoundCode | VersionHeader | ObjectOutput | Elicitation |
		ResumableStreams | PolledStreams | URLElicitation | CoreTasks | FormLists | SamplingAudio | SamplingTools,
	methods: featureMethods.plus(changeNotifications, sessionMethods, methodSet{
		mcp.MethodElicitationCreate:         fromServer,
		mcp.NotificationElicitationComplete: fromServer,
		mcp.MethodTasksGet:                  fromBoth,
		mcp.MethodTasksResult:               fromBoth,
		mcp.MethodTasksList:                 fromBoth,
		mcp.MethodTasksCancel:               fromBoth,
		mcp.NotificationTasksStatus:         fromBoth,
	}),
	undo: undo{
		members:        []string{"content", "messages", "tools", "prompts", "resources", "resourceTemplates"},
		implementation: func(i *mcp.Implementation) { i.Description, i.Icons, i.WebsiteURL = "", nil, "" },
		tool:           func(t *mcp.Tool) { t.Icons, t.Execution = nil, nil },
		prompt:         func(p *mcp.Prompt) { p.Icons = nil },
		resource:       func(r *mcp.Resource) { r.Icons = nil },
		template:       func(t *mcp.ResourceTemplate) { t.Icons = nil },
		content: func(c *mcp.Content) {
			if c.Link != nil && c.Link.Icons != nil {
				link := *c.Link
				link.Icons = nil
				c.Link = &link
			}
		},
		capabilities: func(c *mcp.ServerCapabilities) { c.Tasks = nil },
		sampled:      func(r *mcp.CreateMessageResult) { r.Content = single(r.Content) },
		elicit: func(p *mcp.ElicitParams) {
			p.Mode, p.Task, p.RequestedSchema = "", nil, plainForm(p.RequestedSchema)
		},
		sampling: func(p *mcp.CreateMessageParams) {
			p.Tools, p.ToolChoice, p.Task, p.Messages = nil, nil, nil, singleBlocks(p.Messages)
		},
	},
}

// single makes one block of what a model says: its texts, or the first block
// when there is none.
func single(blocks mcp.SamplingContent) mcp.SamplingContent {
	if len(blocks) == 1 {
		return blocks
	}
	var texts []string
	for _, c := range blocks {
		if c.Type == mcp.TypeText {
			texts = append(texts, c.Text)
		}
	}
	if len(texts) == 0 && len(blocks) > 0 {
		return blocks[:1]
	}
	return mcp.SamplingContent{mcp.Text(strings.Join(texts, "\n"))}
}

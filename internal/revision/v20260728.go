package revision

import (
	"bytes"
	stdjson "encoding/json"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/mcp"
)

// Stateless: no handshake and no sessions; every request carries its version,
// identity and capabilities; the server asks through input-required results;
// changes are told on subscriptions/listen; results have a type and lists a
// time to live; structured output may be any value; unknown resources are
// invalid parameters; tasks became an extension.
var rev20260728 = &Revision{
	name:     "2026-07-28",
	modern:   true,
	features: VersionHeader | ObjectOutput | AnyOutput | Elicitation | URLElicitation | FormLists | SamplingAudio | SamplingTools,
	methods: featureMethods.plus(changeNotifications, methodSet{
		mcp.MethodServerDiscover:                  fromClient,
		mcp.MethodSubscriptionsListen:             fromClient,
		mcp.NotificationSubscriptionsAcknowledged: fromServer,
		mcp.NotificationCancelled:                 fromBoth,
		mcp.NotificationProgress:                  fromServer,
	}),
	gone: undo{
		tool:         func(t *mcp.Tool) { t.Execution = nil },
		capabilities: func(c *mcp.ServerCapabilities) { c.Tasks = nil },
		elicit:       func(p *mcp.ElicitParams) { p.ElicitationID, p.Task = "", nil },
		sampling:     func(p *mcp.CreateMessageParams) { p.Task = nil },
	},
	undo: undo{
		members: []string{"resultType", "ttlMs", "cacheScope", "_meta", "structuredContent", "tools"},
		dropped: []string{"resultType", "ttlMs", "cacheScope"},
		result:  typelessResult,
		cache:   func(c *mcp.Cache) { *c = mcp.Cache{} },
		tool: func(t *mcp.Tool) {
			if !objectSchema(t.OutputSchema) {
				t.OutputSchema = nil
			}
			t.InputSchema = objectProperties(t.InputSchema)
			t.OutputSchema = objectProperties(t.OutputSchema)
		},
		toolResult: func(r *mcp.CallToolResult) {
			if value := bytes.TrimLeft(r.StructuredContent, " \t\r\n"); len(value) > 0 && value[0] != '{' {
				r.StructuredContent = nil
			}
		},
	},
}

// typelessResult drops what only stateless results carry.
func typelessResult(r *mcp.Result) {
	r.ResultType = ""
	if _, ok := r.Meta[mcp.MetaServerInfo]; !ok {
		return
	}
	meta := mcp.Meta{}
	for key, value := range r.Meta {
		if key != mcp.MetaServerInfo {
			meta[key] = value
		}
	}
	r.Meta = nil
	if len(meta) > 0 {
		r.Meta = meta
	}
}

// objectSchema reports whether a schema's root says that it describes an object.
func objectSchema(schema []byte) bool {
	kind, ok := json.Member(schema, "type")
	return ok && string(kind) == `"object"`
}

// objectProperties writes the properties that are described by true or false,
// which JSON Schema allows and older revisions do not, as objects that mean
// the same.
func objectProperties(schema stdjson.RawMessage) stdjson.RawMessage {
	properties, _ := json.Member(schema, "properties")
	booleans := false
	for _, value := range json.Members(properties) {
		booleans = booleans || value[0] == 't' || value[0] == 'f'
	}
	if !booleans {
		return schema
	}
	var object, described map[string]stdjson.RawMessage
	if json.Unmarshal(schema, &object) != nil || json.Unmarshal(properties, &described) != nil {
		return schema
	}
	for name, value := range described {
		switch string(value) {
		case "true":
			described[name] = stdjson.RawMessage("{}")
		case "false":
			described[name] = stdjson.RawMessage(`{"not":{}}`)
		}
	}
	rewritten, err := json.Marshal(described)
	if err != nil {
		return schema
	}
	object["properties"] = rewritten
	if rewritten, err = json.Marshal(object); err != nil {
		return schema
	}
	return rewritten
}

package revision

import (
	stdjson "encoding/json"
	"slices"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/mcp"
)

// EncodeRaw is [Revision.Encode] for a result that is JSON already, as
// gateways have it, from a peer of any revision. The result is decoded only
// when it holds something that the receiver would not understand. The second
// result says what is wrong with JSON that is no result of that method.
func (r *Revision) EncodeRaw(method string, raw stdjson.RawMessage) (any, error) {
	if r.modern {
		return typed(raw), nil
	}
	if !r.touched(raw) {
		return raw, nil
	}
	value := resultOf(method)
	if err := json.Unmarshal(raw, value); err != nil {
		return nil, err
	}
	return r.Encode(value), nil
}

// typed adds the result type that results of older revisions lack.
func typed(raw stdjson.RawMessage) stdjson.RawMessage {
	empty := true
	for name := range json.Members(raw) {
		if name == "resultType" {
			return raw
		}
		empty = false
	}
	const complete = `{"resultType":"` + mcp.ResultComplete + `"`
	if empty {
		return stdjson.RawMessage(complete + "}")
	}
	rest := raw[slices.Index(raw, '{')+1:]
	out := make(stdjson.RawMessage, 0, len(complete)+1+len(rest))
	return append(append(append(out, complete...), ','), rest...)
}

// touched reports whether a result has a member that a newer revision changed.
func (r *Revision) touched(raw stdjson.RawMessage) bool {
	for name := range json.Members(raw) {
		for _, u := range r.older {
			if slices.Contains(u.members, name) {
				return true
			}
		}
	}
	return false
}

// resultOf returns a pointer to an empty result of the method. Methods whose
// results did not change between revisions are not decoded by name: what is
// common to all results is dropped from a map.
func resultOf(method string) any {
	switch method {
	case mcp.MethodToolsCall:
		return new(mcp.CallToolResult)
	case mcp.MethodPromptsGet:
		return new(mcp.GetPromptResult)
	case mcp.MethodResourcesRead:
		return new(mcp.ReadResourceResult)
	case mcp.MethodToolsList:
		return new(mcp.ListToolsResult)
	case mcp.MethodPromptsList:
		return new(mcp.ListPromptsResult)
	case mcp.MethodResourcesList:
		return new(mcp.ListResourcesResult)
	case mcp.MethodResourcesTemplatesList:
		return new(mcp.ListResourceTemplatesResult)
	case mcp.MethodCompletionComplete:
		return new(mcp.CompleteResult)
	default:
		return new(openResult)
	}
}

// An openResult keeps every member of a result whose method is not known.
type openResult map[string]stdjson.RawMessage

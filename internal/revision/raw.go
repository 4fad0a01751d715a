package revision

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"slices"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/mcp"
)

// EncodeRaw is [Revision.Encode] for a result that is JSON already, as
// gateways have it, from a peer of any revision. The result is decoded only
// when it holds something that the receiver would not understand. The error
// says what is wrong with JSON that is no result of that method, or that a
// peer of this revision cannot be told the result.
func (r *Revision) EncodeRaw(method string, raw stdjson.RawMessage) (any, error) {
	if text := bytes.TrimLeft(raw, " \t\r\n"); len(text) == 0 || string(text) == "null" {
		raw = emptyResult
	} else if text[0] != '{' {
		return nil, fmt.Errorf("the result of %s is not a JSON object", method)
	}
	if r.modern {
		return typed(method, raw), nil
	}
	if !r.touched(raw) {
		return raw, nil
	}
	if kind, ok := json.Member(raw, "resultType"); ok && string(kind) != `"`+mcp.ResultComplete+`"` {
		return nil, &ResultTypeError{Type: string(kind), Revision: r.name}
	}
	value := resultOf(method, raw)
	if err := json.Unmarshal(raw, value); err != nil {
		return nil, err
	}
	return r.Encode(value), nil
}

var emptyResult = stdjson.RawMessage("{}")

// A ResultTypeError tells that a result is of a kind that the revision of its
// receiver does not have: it is no answer there, and must not be taken for one.
type ResultTypeError struct {
	Type     string // as it stands on the wire
	Revision string
}

// Error implements the error interface.
func (e *ResultTypeError) Error() string {
	return fmt.Sprintf("revision %s has no results of type %s", e.Revision, e.Type)
}

// typed adds what results of older revisions lack: the type, and how long
// cacheable ones may be kept, which is not at all when nobody said so.
func typed(method string, raw stdjson.RawMessage) stdjson.RawMessage {
	empty, ttl, scope := true, cacheable(method), cacheable(method)
	for name := range json.Members(raw) {
		switch name {
		case "resultType":
			return raw // it comes from a peer that knows the rest, too
		case "ttlMs":
			ttl = false
		case "cacheScope":
			scope = false
		}
		empty = false
	}
	out := make(stdjson.RawMessage, 0, len(raw)+80)
	out = append(out, `{"resultType":"`+mcp.ResultComplete+`"`...)
	if ttl {
		out = append(out, `,"ttlMs":0`...)
	}
	if scope {
		out = append(out, `,"cacheScope":"`+mcp.CachePrivate+`"`...)
	}
	if !empty {
		out = append(out, ',')
	}
	return append(out, raw[bytes.IndexByte(raw, '{')+1:]...)
}

// cacheable reports whether results of the method say how long they may be kept.
func cacheable(method string) bool {
	switch method {
	case mcp.MethodServerDiscover, mcp.MethodToolsList, mcp.MethodPromptsList, mcp.MethodResourcesList,
		mcp.MethodResourcesTemplatesList, mcp.MethodResourcesRead:
		return true
	}
	return false
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

// resultOf returns a pointer to an empty result of the method. Results that
// have not the member that makes them one, such as that of a tool call which
// became a task, are not decoded by method, and neither are those of methods
// whose results did not change: what all results share is dropped from a map.
func resultOf(method string, raw stdjson.RawMessage) any {
	kind, ok := resultKinds[method]
	if !ok {
		return new(openResult)
	}
	for name := range json.Members(raw) {
		if name == kind.member || name == "structuredContent" {
			return kind.empty()
		}
	}
	return new(openResult)
}

// resultKinds are the results that revisions changed, with the member that
// each must have.
var resultKinds = map[string]struct {
	member string
	empty  func() any
}{
	mcp.MethodToolsCall:              {"content", func() any { return new(mcp.CallToolResult) }},
	mcp.MethodPromptsGet:             {"messages", func() any { return new(mcp.GetPromptResult) }},
	mcp.MethodResourcesRead:          {"contents", func() any { return new(mcp.ReadResourceResult) }},
	mcp.MethodToolsList:              {"tools", func() any { return new(mcp.ListToolsResult) }},
	mcp.MethodPromptsList:            {"prompts", func() any { return new(mcp.ListPromptsResult) }},
	mcp.MethodResourcesList:          {"resources", func() any { return new(mcp.ListResourcesResult) }},
	mcp.MethodResourcesTemplatesList: {"resourceTemplates", func() any { return new(mcp.ListResourceTemplatesResult) }},
}

// An openResult keeps every member of a result whose method is not known.
type openResult map[string]stdjson.RawMessage

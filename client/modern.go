package client

import (
	stdjson "encoding/json"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// modern speaks the stateless revisions: every request says by itself which
// revision it is of, who sends it and what that client can do.
type modern struct {
	rev  *revision.Revision
	meta atomic.Pointer[metaFields] // replaced when the log level is chosen
	// mirror is nil on carriers without headers.
	mirror *mirror
}

func newModern(rev *revision.Revision, identity *metaFields, mirror *mirror) *modern {
	m := &modern{rev: rev, mirror: mirror}
	m.meta.Store(identity)
	return m
}

func (d *modern) revision() *revision.Revision { return d.rev }

func (d *modern) request(m *transport.Outgoing, token jsonrpc.ID) error {
	params, err := d.meta.Load().put(m.Params, token)
	if err != nil {
		return fmt.Errorf("%s: encode params: %w", m.Method, err)
	}
	m.Params = params
	m.Revision = d.rev.Name()
	m.Route = &transport.Route{Name: routeName(m.Method, params)}
	if m.Method != mcp.MethodToolsCall {
		return nil
	}
	if m.Route.Params, err = d.mirror.headers(m.Route.Name, params); err != nil {
		return fmt.Errorf("%s: %w", m.Method, err)
	}
	return nil
}

func (d *modern) oneWay(m *transport.Outgoing) {
	m.Revision = d.rev.Name()
	m.Route = &transport.Route{}
}

// routeMembers are the parameters that carriers repeat, by method.
var routeMembers = map[string]string{
	mcp.MethodToolsCall:     "name",
	mcp.MethodPromptsGet:    "name",
	mcp.MethodResourcesRead: "uri",
}

func routeName(method string, params any) string {
	member, ok := routeMembers[method]
	call, isCall := params.(*spliced)
	switch {
	case isCall && member == "name":
		return call.call.Name
	case isCall: // of a method that has other parameters
		return ""
	case ok:
	case strings.HasPrefix(method, "tasks/"): // of the extension
		member = "taskId"
	default:
		return ""
	}
	encoded, _ := params.(stdjson.RawMessage)
	raw, ok := json.Member(encoded, member)
	if !ok {
		return ""
	}
	name, _ := json.Unquote(raw) // of one that is no text the server will say what is wrong
	return name
}

func (d *modern) received(method string, raw stdjson.RawMessage) stdjson.RawMessage {
	if method == mcp.MethodToolsList {
		return d.mirror.learn(raw)
	}
	return raw
}

// final reads the type of the result before anything else: a result of another
// type has other members, and would pass for an empty one.
func (d *modern) final(method string, raw stdjson.RawMessage) error {
	member, ok := json.Member(raw, "resultType")
	if !ok || string(member) == "null" {
		return nil // a result without a type is complete
	}
	kind, isText := json.Unquote(member)
	if !isText {
		return malformed(method, "resultType is not a string")
	}
	switch kind {
	case mcp.ResultComplete:
		return nil
	case mcp.ResultInputRequired:
		result, err := decodeQuestions(method, raw)
		if err != nil {
			return err
		}
		return &InputRequiredError{Method: method, Result: result}
	default:
		return malformed(method, "unknown resultType %q", kind)
	}
}

// ping asks for what every server must answer: the revision has no ping.
func (d *modern) ping() string { return mcp.MethodServerDiscover }

func (d *modern) level(level mcp.LoggingLevel) bool {
	field := metaField{key: mcp.MetaLogLevel, value: json.AppendString(nil, string(level))}
	for {
		old := d.meta.Load()
		if d.meta.CompareAndSwap(old, old.with(field)) {
			return false
		}
	}
}

func (d *modern) more(next *string) bool { return next != nil }

func (d *modern) renewable() bool { return false }

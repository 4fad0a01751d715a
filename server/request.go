package server

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	ijson "github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// A Request is a request or notification whose parameters have been read once.
// It refers to the bytes of the message it came from.
type Request struct {
	Method string
	// ID is zero for a notification.
	ID jsonrpc.ID
	// Raw holds the parameters as they came; nil when there were none.
	Raw json.RawMessage
	// Name is what the request is about: the name of a tool or prompt, the URI
	// of a resource, or the id of a task; empty for other methods.
	Name string
	// ProtocolVersion is the revision that the request names in its metadata.
	// Requests of a session name none.
	ProtocolVersion string
	// Principal is who the carrier has found the caller to be; empty when
	// nobody was authenticated. Carriers set it.
	Principal string
	// Header is what came beside the message, under canonical names as in
	// net/http; nil on carriers without headers. Carriers set it.
	Header map[string][]string

	arguments  json.RawMessage
	meta       requestMeta
	shared     bool                           // the carrier has one stream for all requests
	disconnect func(retry time.Duration) bool // nil when the carrier cannot
	cancel     context.CancelCauseFunc        // nil when the carrier has none for it
	reader     *reader                        // of the connection it came on; nil for none
	turn       uint64                         // of the reader, with the frame it came in
}

// requestMeta is the part of a request's _meta that the protocol defines.
type requestMeta struct {
	raw           json.RawMessage
	clientInfo    json.RawMessage
	capabilities  json.RawMessage
	logLevel      json.RawMessage
	progressToken jsonrpc.ID
}

// OnDisconnect sets what [Call.Disconnect] does. Carriers that can let go of
// the connection of a request call it before they serve the request.
func (rq *Request) OnDisconnect(disconnect func(retry time.Duration) bool) {
	rq.disconnect = disconnect
}

// OnCancel sets what cancels the context that the request will be served with, and
// no other request. Carriers that have made such a context call it before they
// serve the request, which then does without another one.
func (rq *Request) OnCancel(cancel context.CancelCauseFunc) { rq.cancel = cancel }

// Modern reports whether the request carries its own version, identity and
// capabilities and is served without a session.
func (rq *Request) Modern() bool { return rq.ProtocolVersion != "" }

// Decode reads the parameters of a request or notification. The request is
// returned even when they are wrong, so that it can be answered; the error is
// the *jsonrpc.Error to answer with.
func (s *Server) Decode(m jsonrpc.Message) (*Request, error) {
	rq := &Request{Method: m.Method, ID: m.ID, Raw: m.Params}
	if len(m.Params) > 0 && m.Params[0] != '{' {
		return rq, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "params of %s must be an object", m.Method)
	}
	// All members are read even when one is wrong: the answer depends on the
	// revision that the metadata names.
	var wrong error
	for name, value := range ijson.Members(m.Params) {
		if string(value) == "null" {
			continue // stands for absent
		}
		switch name {
		case "_meta":
			wrong = cmp.Or(wrong, rq.meta.decode(value, rq))
		case "name", "uri", "taskId":
			var ok bool
			if name != nameMember(m.Method) {
				continue
			}
			if rq.Name, ok = ijson.Unquote(value); !ok {
				wrong = cmp.Or(wrong, error(invalidParams("params of %s: %s must be a string", m.Method, name)))
			}
		case "arguments":
			rq.arguments = value
		}
	}
	if wrong != nil {
		return rq, wrong
	}
	if rq.Modern() && !m.ID.IsZero() {
		return rq, rq.meta.check()
	}
	return rq, nil
}

// nameMember returns the parameter that says what a request is about.
func nameMember(method string) string {
	switch method {
	case mcp.MethodToolsCall, mcp.MethodPromptsGet:
		return "name"
	case mcp.MethodResourcesRead:
		return "uri"
	}
	if strings.HasPrefix(method, "tasks/") {
		return "taskId"
	}
	return ""
}

// decode finds the members the protocol defines.
func (meta *requestMeta) decode(raw json.RawMessage, rq *Request) error {
	if raw[0] != '{' {
		return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "params._meta must be an object")
	}
	meta.raw = raw
	for name, value := range ijson.Members(raw) {
		switch name {
		case mcp.MetaProtocolVersion:
			version, ok := ijson.Unquote(value)
			if !ok || version == "" {
				return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "params._meta[%q] must be a string", name)
			}
			rq.ProtocolVersion = version
		case mcp.MetaClientInfo:
			meta.clientInfo = unlessNull(value)
		case mcp.MetaClientCapabilities:
			meta.capabilities = unlessNull(value)
		case mcp.MetaLogLevel:
			meta.logLevel = unlessNull(value)
		case mcp.MetaProgressToken:
			meta.progressToken, _ = jsonrpc.ParseID(value) // one that is no token is no token
		}
	}
	return nil
}

// unlessNull returns nil for null, which peers write for what is absent.
func unlessNull(value json.RawMessage) json.RawMessage {
	if string(value) == "null" {
		return nil
	}
	return value
}

// check finds what a stateless request lacks.
func (meta *requestMeta) check() error {
	switch {
	case meta.capabilities == nil:
		return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "params._meta[%q] is missing", mcp.MetaClientCapabilities)
	case meta.capabilities[0] != '{':
		return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "params._meta[%q] must be an object", mcp.MetaClientCapabilities)
	case meta.clientInfo != nil && meta.clientInfo[0] != '{':
		return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "params._meta[%q] must be an object", mcp.MetaClientInfo)
	}
	return nil
}

// MissingMeta returns the error for a request that should have named its
// revision in its metadata, and did not. Carriers use it when something else,
// such as a header, says that the request is stateless.
func MissingMeta() *jsonrpc.Error {
	return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "params._meta[%q] is missing", mcp.MetaProtocolVersion)
}

// needName checks that the request says what it is about.
func (rq *Request) needName() error {
	if rq.Name == "" {
		return invalidParams("params of %s: %s is missing", rq.Method, nameMember(rq.Method))
	}
	return nil
}

// params decodes the parameters of a request into p.
func (rq *Request) params(p any) error {
	if len(rq.Raw) == 0 {
		return nil
	}
	if err := ijson.Unmarshal(rq.Raw, p); err != nil {
		return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "params of %s: %v", rq.Method, err)
	}
	return nil
}

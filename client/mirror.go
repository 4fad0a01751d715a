package client

import (
	"bytes"
	"context"
	stdjson "encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// A mirror knows which arguments of which tools go into HTTP headers as well.
// It learns that from the lists of tools that pass by. A nil mirror, that of
// other carriers, mirrors nothing.
//
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#custom-headers-from-tool-parameters
type mirror struct {
	log *slog.Logger

	mu    sync.RWMutex
	tools map[string][]httpwire.Param // only tools that have some
}

// maxMirrored bounds the tools that a mirror knows.
const maxMirrored = 10_000

func newMirror(log *slog.Logger) *mirror {
	return &mirror{log: log, tools: map[string][]httpwire.Param{}}
}

// params returns the arguments of a tool that go into headers.
func (mi *mirror) params(tool string) []httpwire.Param {
	if mi == nil {
		return nil
	}
	mi.mu.RLock()
	defer mi.mu.RUnlock()
	return mi.tools[tool]
}

// headers returns what the headers of a call say, by the names in the schema.
func (mi *mirror) headers(tool string, call any) (map[string]string, error) {
	params := mi.params(tool)
	if len(params) == 0 {
		return nil, nil
	}
	var arguments stdjson.RawMessage
	switch call := call.(type) {
	case *spliced:
		arguments = call.call.Arguments
	case stdjson.RawMessage:
		arguments, _ = json.Member(call, "arguments")
	}
	headers := make(map[string]string, len(params))
	for i := range params {
		text, ok, err := params[i].Text(arguments)
		if err != nil {
			return nil, err
		}
		if ok {
			headers[params[i].Name] = text
		}
	}
	return headers, nil
}

// learn takes note of a page of the list of tools. It returns the page without
// the tools that ask for headers in a way that is not allowed: they must not be
// used.
func (mi *mirror) learn(page stdjson.RawMessage) stdjson.RawMessage {
	if mi == nil || !mi.concerned(page) {
		return page
	}
	var tools []stdjson.RawMessage
	if list, _ := json.Member(page, "tools"); json.Unmarshal(list, &tools) != nil {
		return page // whoever asked for it finds out
	}
	kept := slices.DeleteFunc(slices.Clone(tools), func(tool stdjson.RawMessage) bool { return !mi.note(tool) })
	if len(kept) == len(tools) {
		return page
	}
	out := []byte{'{'}
	for name, value := range json.Members(page) {
		if name == "tools" {
			value = slices.Concat([]byte{'['}, bytes.Join(raws(kept), []byte{','}), []byte{']'})
		}
		out = appendMember(out, name, value)
	}
	return append(out, '}')
}

func raws(values []stdjson.RawMessage) [][]byte {
	out := make([][]byte, len(values))
	for i, value := range values {
		out[i] = value
	}
	return out
}

// concerned reports whether a page may say something about headers, or no
// longer says it.
func (mi *mirror) concerned(page []byte) bool {
	if bytes.Contains(page, []byte("x-mcp-header")) {
		return true
	}
	mi.mu.RLock()
	defer mi.mu.RUnlock()
	return len(mi.tools) > 0
}

// note takes note of one tool, and reports whether it can be used.
func (mi *mirror) note(tool stdjson.RawMessage) bool {
	raw, _ := json.Member(tool, "name")
	name, _ := json.Unquote(raw)
	schema, _ := json.Member(tool, "inputSchema")
	params, err := httpwire.Params(schema)
	if err != nil {
		mi.log.Warn("tool left out", slog.String("tool", name), slog.Any("reason", err))
	}
	mi.mu.Lock()
	defer mi.mu.Unlock()
	if len(params) == 0 {
		delete(mi.tools, name)
	} else if len(mi.tools) < maxMirrored {
		mi.tools[strings.Clone(name)] = params
	}
	return err == nil
}

// mirrors returns the link's mirror, nil if there is none.
func (l *link) mirrors() *mirror {
	if d, ok := l.speaks().(*modern); ok {
		return d.mirror
	}
	return nil
}

// relist reads the list of tools as far as the one that a call is about. It takes
// no longer than a call does, however long the list is.
func (s *Session) relist(ctx context.Context, tool string) error {
	limited, cancel := withLimit(ctx, s.client.opts.Timeout)
	defer cancel()
	for t, err := range s.Tools(limited) {
		if err != nil || t.Name == tool {
			return err
		}
	}
	return nil
}

// relearn reads the tools anew after the server has refused a call for its
// headers. It reports whether the call has others now.
func (s *Session) relearn(ctx context.Context, l *link, m *transport.Outgoing, refusal error) bool {
	e, ok := errors.AsType[*jsonrpc.Error](refusal)
	if !ok || e.Code != mcp.CodeHeaderMismatch || m.Method != mcp.MethodToolsCall || l.mirrors() == nil {
		return false
	}
	s.cache.drop(mcp.MethodToolsList, "")
	before := l.mirrors().params(m.Route.Name)
	if s.relist(ctx, m.Route.Name) != nil {
		return false
	}
	return !slices.EqualFunc(before, l.mirrors().params(m.Route.Name), func(a, b httpwire.Param) bool {
		return a.Name == b.Name && slices.Equal(a.Path, b.Path)
	})
}

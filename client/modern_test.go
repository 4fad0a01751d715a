package client_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/transport"
)

// TestOldCodesMeanNothing has a server fail with codes that servers of earlier
// days made up: they come back as they are, and nothing is done about them.
func TestOldCodesMeanNothing(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "BASE-ERRCODE-LEGACY-NO-ASSUME")
	lib := newLibrary("")
	sess := connect(t, lib, nil)
	for code := -32000; code >= -32019; code-- {
		lib.refuse = &jsonrpc.Error{Code: code, Message: "made up"}
		before := len(lib.methods())
		err := callTool(t, sess, "a", `{}`)
		if e, ok := errors.AsType[*jsonrpc.Error](err); !ok || e.Code != code {
			t.Errorf("code %d came back as %v", code, err)
		}
		if sent := len(lib.methods()) - before; sent != 1 {
			t.Errorf("code %d: %d requests, want 1", code, sent)
		}
	}
	if err := sess.Err(); err != nil {
		t.Errorf("the session is over: %v", err)
	}
}

// TestLostAnswers has a stream break off: the request is lost, and the caller who
// makes it again makes another one.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-REISSUE-NEW-ID")
	lib := newLibrary("")
	sess := connect(t, lib, nil)
	lib.failed = errors.New("answer ended without the response")
	if err := callTool(t, sess, "a", `{}`); err == nil || client.IsRemote(err) {
		t.Errorf("got %v, want an error of the carrier", err)
	}
	lib.failed = nil
	if err := callTool(t, sess, "a", `{}`); err != nil {
		t.Error(err)
	}
	if got := strings.Join(lib.methods(), " "); got != "server/discover tools/call tools/call" {
		t.Errorf("sent %s: the call must not be repeated by itself", got)
	}
	if first, second := lib.sent[1].ID, lib.sent[2].ID; first == second {
		t.Errorf("both calls have the id %v", first)
	}
}

// TestResultTypes calls a tool whose results are of all kinds of types.
func TestResultTypes(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "BASE-RESULTTYPE-SET", "BASE-RESULTTYPE-VALUES")
	var kind string
	via := &fakeHTTP{answer: func(m *transport.Outgoing) (transport.Response, error) {
		if m.Method == mcp.MethodServerDiscover {
			return ok(discovery(r5)), nil
		}
		return ok(`{"resultType":"` + kind + `","content":[],"requestState":"s","inputRequests":{"r":{"method":"roots/list"}}}`), nil
	}}
	sess := connect(t, via, nil)
	for _, tt := range []struct {
		kind string
		want any
	}{
		{"complete", nil},
		{"input_required", new(*client.InputRequiredError)},
		{"task", new(*client.ProtocolError)}, // of an extension that was not declared
		{"COMPLETE", new(*client.ProtocolError)},
		{"", new(*client.ProtocolError)},
	} {
		kind = tt.kind
		err := callTool(t, sess, "a", `{}`)
		if tt.want == nil && err != nil || tt.want != nil && !errors.As(err, tt.want) {
			t.Errorf("%q: got %v, want %T", kind, err, tt.want)
		}
	}
}

// TestOwnMetadata makes calls whose metadata is wrong, or says what the session
// would have said.
func TestOwnMetadata(t *testing.T) {
	t.Parallel()
	lib := newLibrary("")
	sess := connect(t, lib, nil)
	call := func(meta mcp.Meta, params any) (string, error) {
		_, err := sess.Call(t.Context(), "x/y", params, &client.CallOptions{Meta: meta, LogLevel: mcp.LevelError})
		raw, _ := lib.sent[len(lib.sent)-1].Params.(json.RawMessage)
		return string(raw), err
	}
	if err := sess.SetLogLevel(t.Context(), mcp.LevelDebug); err != nil {
		t.Fatal(err)
	}
	sent, err := call(mcp.Meta{"baggage": json.RawMessage(`"a"`), mcp.MetaProtocolVersion: json.RawMessage(`"x"`)}, map[string]int{"n": 1})
	if err != nil || !json.Valid([]byte(sent)) || !strings.Contains(sent, `"baggage":"a"`) || !strings.Contains(sent, `"n":1`) ||
		!strings.Contains(sent, `"`+mcp.MetaLogLevel+`":"error"`) || strings.Contains(sent, `"debug"`) ||
		!strings.Contains(sent, `"`+mcp.MetaProtocolVersion+`":"`+r5+`"`) || strings.Contains(sent, `"x"`) {
		t.Errorf("sent %s, %v", sent, err)
	}
	for _, bad := range []any{json.RawMessage(`[]`), json.RawMessage(`{"_meta":1}`), json.RawMessage(`{`)} {
		if sent, err := call(mcp.Meta{"a": json.RawMessage(`1`)}, bad); err == nil {
			t.Errorf("params %s were sent as %s", bad, sent)
		}
	}
	if sent, err := call(mcp.Meta{"a": json.RawMessage(`{`)}, nil); err == nil {
		t.Errorf("metadata that is no JSON was sent as %s", sent)
	}
}

// Extensions that nobody could understand are not declared.
func TestBadExtensions(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "VER-EXT-ID-FORMAT")
	caps := mcp.ClientCapabilities{Extensions: map[string]json.RawMessage{"sails": json.RawMessage(`{}`)}}
	_, err := client.New(info, &client.Options{Capabilities: caps}).Connect(t.Context(), newLibrary(""))
	if err == nil || !strings.Contains(err.Error(), `"sails"`) {
		t.Errorf("got %v, want an error about the extension", err)
	}
}

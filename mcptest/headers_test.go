package mcptest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/httpserver"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
)

// A posted is one POST of a client.
type posted struct {
	header http.Header
	body   []byte
}

// A recorder notes what a client sends to the handler behind it.
type recorder struct {
	next http.Handler

	mu    sync.Mutex
	posts []posted
}

func (rec *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	rec.mu.Lock()
	rec.posts = append(rec.posts, posted{r.Header.Clone(), body})
	rec.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	rec.next.ServeHTTP(w, r)
}

// TestHeadersOfStatelessRequests makes every kind of call and compares the headers
// of what the client sends with the bodies.
func TestHeadersOfStatelessRequests(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-STD-HEADERS", "HTTP-MCP-METHOD", "HTTP-MCP-NAME", "HTTP-VERSION-HEADER-EVERY", "HTTP-VERSION-HEADER-MATCH",
		"HTTP-POST-ACCEPT", "HTTP-BODY-SINGLE-MODERN", "HTTP-NO-CLIENT-RESPONSE", "DISC-REQUEST-SHAPE",
		"BASE-META-PROTOCOL-VERSION", "BASE-META-CLIENT-CAPABILITIES", "BASE-META-CLIENT-INFO", "BASE-REQ-ID-UNIQUE-INFLIGHT")
	srv := everything()
	handler := httpserver.New(srv, nil)
	rec := &recorder{next: handler}
	web := httptest.NewServer(rec)
	t.Cleanup(func() {
		_ = handler.Close()
		web.Close()
		_ = srv.Close()
	})
	sess := mcptest.Connect(t, httpclient.New(web.URL, nil), &client.Options{Revision: "2026-07-28"})
	_ = sess.Ping(t.Context())
	for range sess.Tools(t.Context()) { // all pages
	}
	for range sess.Prompts(t.Context()) {
	}
	for range sess.Resources(t.Context()) {
	}
	for range sess.ResourceTemplates(t.Context()) {
	}
	_, _ = sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "add", Arguments: json.RawMessage(`{"a":1,"b":2}`)}, nil)
	_, _ = sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "größer"}, nil)
	_, _ = sess.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "travel", Arguments: map[string]string{"city": "Rom"}}, nil)
	_, _ = sess.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "file:///path/to/file%20name.txt"}, nil)
	_, _ = sess.Complete(t.Context(), &mcp.CompleteParams{Ref: mcp.Reference{Type: mcp.RefPrompt, Name: "travel"}})
	_, _ = sess.Call(t.Context(), "tasks/get", json.RawMessage(`{"taskId":"täsk"}`), nil)

	ids, methods := map[string]bool{}, map[string]bool{}
	for _, p := range rec.posts {
		method, id := checkPost(t, p)
		if methods[method] = true; ids[id] {
			t.Errorf("%s: the id %s came before", method, id)
		}
		ids[id] = true
	}
	if len(methods) != 10 {
		t.Errorf("%d methods were sent, want 10: %v", len(methods), methods)
	}
}

// checkPost checks one POST for itself.
func checkPost(t *testing.T, p posted) (method, id string) {
	t.Helper()
	var m struct {
		ID     json.RawMessage
		Method string
		Params map[string]json.RawMessage
	}
	if err := json.Unmarshal(p.body, &m); err != nil || len(m.ID) == 0 || m.Method == "" {
		t.Fatalf("the body is no single request: %s, %v", p.body, err)
	}
	var meta map[string]json.RawMessage
	if err := json.Unmarshal(m.Params["_meta"], &meta); err != nil {
		t.Fatalf("%s: no metadata: %s", m.Method, p.body)
	}
	version := p.header.Get("MCP-Protocol-Version")
	if version != "2026-07-28" || string(meta[mcp.MetaProtocolVersion]) != `"`+version+`"` {
		t.Errorf("%s: the header says %q, the body %s", m.Method, version, meta[mcp.MetaProtocolVersion])
	}
	if len(meta[mcp.MetaClientCapabilities]) == 0 || meta[mcp.MetaClientInfo] == nil {
		t.Errorf("%s: metadata without capabilities or identity: %s", m.Method, p.body)
	}
	if got := p.header.Get("Mcp-Method"); got != m.Method {
		t.Errorf("%s: Mcp-Method %q", m.Method, got)
	}
	if got := p.header.Get("Accept"); got != "application/json, text/event-stream" {
		t.Errorf("%s: Accept %q", m.Method, got)
	}
	for _, name := range []string{"Mcp-Session-Id", "Last-Event-Id"} {
		if p.header[name] != nil {
			t.Errorf("%s: header %s of another revision", m.Method, name)
		}
	}
	if m.Method == mcp.MethodServerDiscover && len(m.Params) != 1 {
		t.Errorf("%s with parameters: %s", m.Method, p.body)
	}
	checkName(t, m.Method, m.Params, p.header["Mcp-Name"])
	return m.Method, string(m.ID)
}

// encodedNames are the names that headers cannot hold as they are.
var encodedNames = map[string]string{
	"größer": "=?base64?Z3LDtsOfZXI=?=",
	"täsk":   "=?base64?dMOkc2s=?=",
}

// checkName checks the header that names what a request is about.
func checkName(t *testing.T, method string, params map[string]json.RawMessage, got []string) {
	t.Helper()
	member := map[string]string{
		mcp.MethodToolsCall: "name", mcp.MethodPromptsGet: "name", mcp.MethodResourcesRead: "uri", "tasks/get": "taskId",
	}[method]
	if member == "" {
		if got != nil {
			t.Errorf("%s: Mcp-Name %q", method, got)
		}
		return
	}
	var want string
	if err := json.Unmarshal(params[member], &want); err != nil || len(got) != 1 {
		t.Fatalf("%s: %s %s, Mcp-Name %q", method, member, params[member], got)
	}
	if encoded, ok := encodedNames[want]; ok {
		want = encoded
	}
	if got[0] != want {
		t.Errorf("%s: Mcp-Name %q, want %q", method, got[0], want)
	}
}

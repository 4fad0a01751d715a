package auth_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/auth"
	"github.com/ferrymcp/ferry/internal/oauthwire"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

func scoped() *auth.Options {
	return &auth.Options{
		Scopes:    []string{"mcp"},
		Tools:     map[string][]string{"write": {"files", "write"}},
		Prompts:   map[string][]string{"draft": {"write"}},
		Resources: map[string][]string{"file:///a": {"files"}, "db://{table}": {"tables"}, "db://open": nil},
		Needs: func(method, name string) []string {
			if strings.HasPrefix(name, "file:///vault/") {
				return []string{"vault"}
			}
			if method == "logging/setLevel" {
				return []string{"admin"}
			}
			return nil
		},
		Implies: map[string][]string{"all": {"write", "admin"}, "write": {"files"}, "admin": {"all"}},
	}
}

// needed returns the scopes that a refusal names; none for what is no refusal.
func needed(t *testing.T, w *httptest.ResponseRecorder) []string {
	t.Helper()
	if w.Code != http.StatusForbidden {
		return nil
	}
	challenge, ok := oauthwire.Find(oauthwire.ParseChallenges(w.Header().Values("WWW-Authenticate")), "Bearer")
	if !ok || challenge.Param("error") != "insufficient_scope" || challenge.Param("resource_metadata") == "" || challenge.Param("error_description") == "" {
		t.Errorf("challenge of status 403: %v", w.Header().Values("WWW-Authenticate"))
	}
	if !strings.Contains(w.Body.String(), `"error"`) || strings.Contains(w.Body.String(), secretBody) {
		t.Errorf("body of status 403: %s", w.Body)
	}
	return oauthwire.Scopes(challenge.Param("scope"))
}

// TestScopes sends what needs scopes in all ways there are.
func TestScopes(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-SCOPE-403", "AUTH-SCOPE-403-ALL-AT-ONCE", "AUTH-SCOPE-403-KEEP-GRANTED", "AUTH-SCOPE-CONSISTENT",
		"AUTH-SCOPE-HIERARCHY", "SEC-SCOPE-MINIMAL")
	e := newEndpoint(t, scoped(), nil)
	list := func(scopes ...string) []string { return scopes }
	tests := map[string]struct {
		granted, method, params string
		want                    []string // in the challenge; none: it is let in
	}{
		"nothing special":        {"mcp", "tools/call", `"name":"whoami","arguments":{}`, nil},
		"list":                   {"mcp", "tools/list", ``, nil},
		"tool":                   {"mcp", "tools/call", `"name":"write","arguments":{}`, list("mcp", "files", "write")},
		"tool, all of it":        {"mcp files write", "tools/call", `"name":"write","arguments":{}`, nil},
		"tool, one is missing":   {"mcp write-much files", "tools/call", `"name":"write","arguments":{}`, list("mcp", "files", "write")},
		"tool, implied":          {"mcp write", "tools/call", `"name":"write","arguments":{}`, nil},
		"tool, implied twice":    {"mcp all", "tools/call", `"name":"write","arguments":{}`, nil},
		"tool, in a circle":      {"mcp admin", "tools/call", `"name":"write","arguments":{}`, nil},
		"narrow implies nothing": {"mcp files", "tools/call", `"name":"write","arguments":{}`, list("mcp", "files", "write")},
		"prompt":                 {"mcp files", "prompts/get", `"name":"draft"`, list("mcp", "write", "files")},
		"a tool's name":          {"mcp", "prompts/get", `"name":"write"`, nil},
		"resource":               {"mcp", "resources/read", `"uri":"file:///a"`, list("mcp", "files")},
		"resource of a function": {"mcp", "resources/read", `"uri":"file:///vault/a"`, list("mcp", "vault")},
		"method of a function":   {"mcp", "logging/setLevel", `"level":"info"`, list("mcp", "admin")},
		"completion":             {"mcp", "completion/complete", `"ref":{"type":"ref/prompt","name":"draft"},"argument":{"name":"a","value":""}`, list("mcp", "write")},
		"completion of a URI":    {"mcp", "completion/complete", `"ref":{"type":"ref/resource","uri":"file:///a"},"argument":{"name":"a","value":""}`, list("mcp", "files")},
		"subscription":           {"mcp", "resources/subscribe", `"uri":"file:///a"`, list("mcp", "files")},
		"listening": {
			"mcp", "subscriptions/listen", `"notifications":{"resourceSubscriptions":["x:y","file:///a","file:///vault/b"]}`,
			list("mcp", "files", "vault"),
		},
		"template":             {"mcp", "resources/read", `"uri":"db://users"`, list("mcp", "tables")},
		"template, in escapes": {"mcp", "resources/read", `"uri":"db://us%65rs"`, list("mcp", "tables")},
		"template, not of it":  {"mcp", "resources/read", `"uri":"db://open"`, nil},
		"template itself":      {"mcp", "completion/complete", `"ref":{"type":"ref/resource","uri":"db://{table}"},"argument":{"name":"table","value":""}`, list("mcp", "tables")},
		"subscription by one":  {"mcp", "resources/subscribe", `"uri":"db://users"`, list("mcp", "tables")},
		// What a method does not have must not hide what it has.
		"subscription, decoy":  {"mcp", "resources/subscribe", `"uri":"file:///a","ref":{"uri":"x:y"},"notifications":{"resourceSubscriptions":["x:y"]}`, list("mcp", "files")},
		"subscription, broken": {"mcp", "resources/subscribe", `"uri":"file:///a","ref":1,"name":2,"notifications":3`, list("mcp", "files")},
		"listening, decoy": {
			"mcp", "subscriptions/listen", `"ref":{"uri":"x:y"},"uri":"x:y","notifications":{"resourceSubscriptions":["file:///a"]}`, list("mcp", "files"),
		},
		"listening, broken": {
			"mcp", "subscriptions/listen", `"ref":1,"uri":2,"notifications":{"resourceSubscriptions":["file:///a"]}`, list("mcp", "files"),
		},
		"completion, decoy":     {"mcp", "completion/complete", `"ref":{"type":"ref/prompt","name":"draft","uri":"x:y"},"argument":{"name":"a","value":""}`, list("mcp", "write")},
		"completion, broken":    {"mcp", "completion/complete", `"notifications":1,"uri":2,"ref":{"type":"ref/prompt","name":"draft"},"argument":{"name":"a","value":""}`, list("mcp", "write")},
		"others are not named":  {"mcp other", "tools/call", `"name":"write","arguments":{}`, list("mcp", "files", "write")},
		"not even let in":       {"files", "tools/list", ``, list("mcp", "files")},
		"not let in, all named": {"", "tools/call", `"name":"write","arguments":{}`, list("mcp", "files", "write")},
		"not let in, resource":  {"", "resources/read", `"uri":"file:///vault/a"`, list("mcp", "vault")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			token := e.is.token(map[string]any{"scope": test.granted})
			check := func(way string, w *httptest.ResponseRecorder) {
				if got := needed(t, w); !slices.Equal(got, test.want) {
					t.Errorf("%s: scopes %q, want %q; status %d: %s", way, got, test.want, w.Code, w.Body)
				}
			}
			check("stateless", e.modern(token, test.method, test.params))
			body := `{"jsonrpc":"2.0","id":1,"method":"` + test.method + `","params":{` + test.params + `}}`
			full := e.is.token(map[string]any{"scope": "mcp"}) // the one that opened the session
			session := "Mcp-Session-Id: " + e.session(full, legacyVersion)
			check("session", e.post(token, body, session))
			if test.want != nil {
				notification := strings.Replace(body, `"id":1,`, "", 1)
				check("notification", e.post(token, notification, session))
			}
			session = "Mcp-Session-Id: " + e.session(full, batchVersion)
			check("batch", e.post(token, "["+body+`,{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":3,"result":{}}]`, session))
		})
	}
}

// TestScopesOfBatch names what all requests of a batch need, and runs none of them.
func TestScopesOfBatch(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, scoped(), nil)
	token := e.is.token(map[string]any{"scope": "mcp"})
	w := e.post(token, `[`+callWhoami+`,
		{"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{"name":"draft"}},
		{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"file:///vault/a"}}]`,
		"Mcp-Session-Id: "+e.session(token, batchVersion))
	if got, want := needed(t, w), []string{"mcp", "write", "vault"}; !slices.Equal(got, want) {
		t.Errorf("scopes %q, want %q; status %d: %s", got, want, w.Code, w.Body)
	}
	if strings.Contains(w.Body.String(), "alice") {
		t.Errorf("a request of the batch has run: %s", w.Body)
	}
}

func TestView(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, scoped(), func(r *auth.Resource) *server.Options { return &server.Options{View: r.View} })
	for scopes, want := range map[string]string{
		"mcp":             "ask whoami",
		"mcp files":       "ask whoami",
		"mcp write":       "ask draft whoami write",
		"mcp all":         "ask draft whoami write",
		"mcp files write": "ask draft whoami write",
	} {
		token := e.is.token(map[string]any{"scope": scopes})
		names := append(names(t, e.modern(token, "tools/list", "")), names(t, e.modern(token, "prompts/list", ""))...)
		slices.Sort(names)
		if got := strings.Join(names, " "); got != want {
			t.Errorf("with %q: %s is listed, want %s", scopes, got, want)
		}
	}
	// Without a resource in between there are no scopes.
	sess := mcptest.Pair(t, e.srv, nil)
	count := 0
	for range sess.Tools(t.Context()) {
		count++
	}
	if count != 3 {
		t.Errorf("on another carrier %d tools are listed, want 3", count)
	}
}

// names returns the names in a list.
func names(t *testing.T, w *httptest.ResponseRecorder) []string {
	t.Helper()
	type named struct {
		Name string `json:"name"`
	}
	var m struct {
		Result struct {
			Tools   []named `json:"tools"`
			Prompts []named `json:"prompts"`
		} `json:"result"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	var out []string
	for _, n := range append(m.Result.Tools, m.Result.Prompts...) {
		out = append(out, n.Name)
	}
	return out
}

// TestPermit is for handlers of others.
func TestPermit(t *testing.T) {
	t.Parallel()
	is := newIssuer(t, login)
	r := newResource(t, scoped(), is.verifier(nil))
	foreign := http.HandlerFunc(func(w http.ResponseWriter, rq *http.Request) {
		if r.Permit(w, rq, "tools/call", "write") {
			_, _ = w.Write([]byte(secretBody))
		}
	})
	for scope, want := range map[string]int{"mcp": 403, "mcp write": 200, "write": 403} {
		w := serve(r.Handler(foreign), http.MethodGet, "/mcp", bearer(is.token(map[string]any{"scope": scope})))
		if w.Code != want || strings.Contains(w.Body.String(), secretBody) != (want == 200) {
			t.Errorf("with %q: status %d, want %d: %s", scope, w.Code, want, w.Body)
		}
	}
	if w := serve(foreign, http.MethodGet, "/mcp"); w.Code != 401 {
		t.Errorf("around the resource: status %d, want 401", w.Code)
	}
	other, err := auth.New("https://mcp.example.com/other", []auth.Verifier{is.verifier(nil)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	token := is.token(map[string]any{"scope": "write", "aud": "https://mcp.example.com/other"})
	if w := serve(other.Handler(foreign), http.MethodGet, "/mcp", bearer(token)); w.Code != 401 {
		t.Errorf("through another resource: status %d, want 401", w.Code)
	}
}

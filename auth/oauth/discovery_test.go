package oauth_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/auth/oauth"
	"github.com/ferrymcp/ferry/mcptest"
)

const (
	prmPath  = "/.well-known/oauth-protected-resource"
	asPath   = "/.well-known/oauth-authorization-server"
	oidcPath = "/.well-known/openid-configuration"
)

// TestDiscovery finds the authorization server wherever a revision has it, and asks
// nowhere else.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-PRM-DISCOVERY", "AUTH-ASM-CLIENT", "AUTH-ASM-CLIENT-2025-03", "AUTH-ASM-CLIENT-2025-06",
		"AUTH-ASM-ORDER-PATH", "AUTH-ASM-ORDER-NO-PATH", "AUTH-FALLBACK-CLIENT", "AUTH-BASE-URL", "AUTH-ASM-VERSION-HEADER")
	const mcp = "GET https://mcp.example"
	for name, test := range map[string]struct {
		issuer string
		change func(rs *resource, is *issuer)
		want   []string // the GET requests for metadata
	}{
		"named by the challenge": {
			asURL, func(rs *resource, _ *issuer) { rs.at = "/somewhere" },
			[]string{mcp + "/somewhere", "GET https://as.example" + asPath},
		},
		"at the path": {
			asURL, func(rs *resource, _ *issuer) { rs.header = false },
			[]string{mcp + prmPath + "/v1/mcp", "GET https://as.example" + asPath},
		},
		"at the root": {
			asURL, func(rs *resource, _ *issuer) {
				rs.header, rs.at, rs.meta["resource"] = false, prmPath, "https://mcp.example"
			},
			[]string{mcp + prmPath + "/v1/mcp", mcp + prmPath, "GET https://as.example" + asPath},
		},
		"OpenID": {
			asURL, func(_ *resource, is *issuer) { is.at = oidcPath },
			[]string{mcp + prmPath + "/v1/mcp", "GET https://as.example" + asPath, "GET https://as.example" + oidcPath},
		},
		"path": {
			asURL + "/t/1", nil,
			[]string{mcp + prmPath + "/v1/mcp", "GET https://as.example" + asPath + "/t/1"},
		},
		"path, OpenID inserted": {
			asURL + "/t/1", func(_ *resource, is *issuer) { is.at = oidcPath + "/t/1" },
			[]string{mcp + prmPath + "/v1/mcp", "GET https://as.example" + asPath + "/t/1", "GET https://as.example" + oidcPath + "/t/1"},
		},
		"path, OpenID appended": {
			asURL + "/t/1", func(_ *resource, is *issuer) { is.at = "/t/1" + oidcPath },
			[]string{
				mcp + prmPath + "/v1/mcp", "GET https://as.example" + asPath + "/t/1",
				"GET https://as.example" + oidcPath + "/t/1", "GET https://as.example/t/1" + oidcPath,
			},
		},
		"second server, the first is gone": {
			asURL, func(rs *resource, _ *issuer) {
				rs.meta["authorization_servers"] = []string{"https://gone.example", asURL}
			},
			[]string{
				mcp + prmPath + "/v1/mcp", "GET https://gone.example" + asPath, "GET https://gone.example" + oidcPath,
				"GET https://as.example" + asPath,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.serve("gone.example", http.NotFoundHandler())
			is := w.issuer(test.issuer)
			rs := w.resource(mcpURL, is)
			if test.change != nil {
				test.change(rs, is)
			}
			mustSend(t, w.client(nil), mcpURL, "x")
			var got []string
			for _, line := range w.requests("GET ") {
				if !strings.Contains(line, "/authorize") {
					got = append(got, line)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("asked for metadata (-want +got):\n%s", diff)
			}
		})
	}
}

// origin is an MCP server of the oldest revision with authorization, which is its own
// authorization server.
type origin struct {
	is       *issuer
	rs       *resource
	revision string // in the request for metadata
}

func (o *origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/v1/mcp":
		o.rs.ServeHTTP(w, r)
	case strings.HasPrefix(r.URL.Path, asPath):
		o.revision = r.Header.Get("Mcp-Protocol-Version")
		fallthrough
	default:
		o.is.ServeHTTP(w, r)
	}
}

// TestOrigin logs in at servers that name nobody.
func TestOrigin(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-FALLBACK-CLIENT", "AUTH-BASE-URL", "AUTH-ASM-CLIENT-2025-03", "AUTH-ASM-VERSION-HEADER")
	for name, change := range map[string]func(is *issuer){
		"metadata":          func(*issuer) {},
		"without PKCE":      func(is *issuer) { delete(is.meta, "code_challenge_methods_supported") },
		"of another issuer": func(is *issuer) { is.meta["issuer"], is.iss = "https://front.example", "https://front.example" },
		"without metadata":  func(is *issuer) { is.at, is.iss = "", "-" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			is := w.issuer("https://mcp.example")
			change(is)
			rs := w.resource(mcpURL, is)
			rs.header, rs.meta = false, nil
			o := &origin{is: is, rs: rs}
			w.serve("mcp.example", o)
			w.serve("front.example", is)
			c := w.client(nil)
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, mcpURL, strings.NewReader("x"))
			r.Header.Set("Mcp-Protocol-Version", "2025-03-26")
			res, err := c.RoundTrip(r)
			if err != nil || res.StatusCode != http.StatusOK {
				t.Fatalf("answer %v, error %v", res, err)
			}
			if o.revision != "2025-03-26" {
				t.Errorf("metadata was asked for in revision %q", o.revision)
			}
			status, err := c.Status(t.Context(), mcpURL)
			if err != nil || status.Issuer != "https://mcp.example" {
				t.Errorf("status %+v, %v", status, err)
			}
		})
	}
}

// TestRefusals has servers that no token may be got from, or none for.
func TestRefusals(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-PKCE-VERIFY-SUPPORT", "AUTH-ASM-ISSUER-VALIDATE", "SEC-URL-SCHEME", "SEC-URL-SANITIZE", "SEC-SSRF-HTTPS")
	for name, test := range map[string]struct {
		change    func(rs *resource, is *issuer)
		want      string // part of the error
		temporary bool
	}{
		"no PKCE": {func(_ *resource, is *issuer) { delete(is.meta, "code_challenge_methods_supported") }, "PKCE", false},
		"PKCE without a hash": {
			func(_ *resource, is *issuer) { is.meta["code_challenge_methods_supported"] = []string{"plain"} }, "PKCE", false,
		},
		"another issuer":         {func(_ *resource, is *issuer) { is.meta["issuer"] = "https://evil.example" }, "issuer", false},
		"issuer with a slash":    {func(_ *resource, is *issuer) { is.meta["issuer"] = asURL + "/" }, "issuer", false},
		"issuer in upper case":   {func(_ *resource, is *issuer) { is.meta["issuer"] = "https://AS.example" }, "issuer", false},
		"no issuer":              {func(_ *resource, is *issuer) { delete(is.meta, "issuer") }, "issuer", false},
		"script as the page":     {func(_ *resource, is *issuer) { is.meta["authorization_endpoint"] = "javascript:alert(1)" }, "authorization_endpoint", false},
		"file as the page":       {func(_ *resource, is *issuer) { is.meta["authorization_endpoint"] = "file:///etc/passwd" }, "authorization_endpoint", false},
		"page with a shell":      {func(_ *resource, is *issuer) { is.meta["authorization_endpoint"] = "https://as.example/`calc`" }, "authorization_endpoint", false},
		"page without TLS":       {func(_ *resource, is *issuer) { is.meta["authorization_endpoint"] = "http://as.example/a" }, "authorization_endpoint", false},
		"token without TLS":      {func(_ *resource, is *issuer) { is.meta["token_endpoint"] = "http://as.example/t" }, "token_endpoint", false},
		"page on this machine":   {func(_ *resource, is *issuer) { is.meta["authorization_endpoint"] = "http://localhost:631/" }, "this machine", false},
		"token on this machine":  {func(_ *resource, is *issuer) { is.meta["token_endpoint"] = "http://127.0.0.1:631/" }, "this machine", false},
		"no page":                {func(_ *resource, is *issuer) { delete(is.meta, "authorization_endpoint") }, "endpoints", false},
		"issuer without TLS":     {func(rs *resource, _ *issuer) { rs.meta["authorization_servers"] = []string{"http://as.example"} }, "https", false},
		"issuer with a query":    {func(rs *resource, _ *issuer) { rs.meta["authorization_servers"] = []string{asURL + "?x"} }, "query", false},
		"another resource":       {func(rs *resource, _ *issuer) { rs.meta["resource"] = "https://bank.example/mcp" }, "bank.example", false},
		"resource beside":        {func(rs *resource, _ *issuer) { rs.meta["resource"] = "https://mcp.example/v1/mcp2" }, "metadata is about", false},
		"resource half a name":   {func(rs *resource, _ *issuer) { rs.meta["resource"] = "https://mcp.example/v1/mc" }, "metadata is about", false},
		"resource at other port": {func(rs *resource, _ *issuer) { rs.meta["resource"] = "https://mcp.example:8443/v1/mcp" }, "metadata is about", false},
		"challenge to a file": {func(rs *resource, _ *issuer) {
			rs.header, rs.challenge = false, `resource_metadata="file:///etc/passwd"`
		}, "resource_metadata", false},
		"server in trouble": {func(_ *resource, is *issuer) { is.w.serve("as.example", http.HandlerFunc(unavailable)) }, "503", true},
		"server not there":  {func(rs *resource, _ *issuer) { rs.meta["authorization_servers"] = []string{"https://nowhere.example"} }, "no such host", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			is := w.issuer(asURL)
			rs := w.resource(mcpURL, is)
			test.change(rs, is)
			_, err := send(t, w.client(nil), mcpURL, "x")
			var e *oauth.Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), test.want) || e.Temporary != test.temporary {
				t.Errorf("error %v, temporary %v, want one about %q, %v", err, e != nil && e.Temporary, test.want, test.temporary)
			}
			if asked := w.requests("/authorize"); len(asked) > 0 {
				t.Errorf("a user was asked: %q", asked)
			}
		})
	}
}

func unavailable(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusServiceUnavailable)
}

// TestNoTLS gets no token for a server that anybody can listen to.
func TestNoTLS(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	is := w.issuer(asURL)
	w.resource("http://mcp.example/mcp", is)
	if _, err := send(t, w.client(nil), "http://mcp.example/mcp", "x"); err == nil || !strings.Contains(err.Error(), "use https") {
		t.Errorf("error %v, want one about https", err)
	}
	if asked := w.requests("as.example"); len(asked) > 0 {
		t.Errorf("the authorization server was asked: %q", asked)
	}
}

// TestMigration lets a server name another issuer: nothing of the old one goes there.
func TestMigration(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-AS-BINDING", "AUTH-AS-CHANGE", "AUTH-AS-SEPARATE-STATE", "AUTH-TOKEN-OWN-AS", "AUTH-AS-CHANGE-PREREG")
	for name, test := range map[string]struct {
		opts oauth.Options
		want string // the client id at the new issuer; empty: an error
	}{
		"registers anew":     {oauth.Options{}, "client-1"},
		"document is good":   {oauth.Options{MetadataURL: "https://program.example/c.json"}, "https://program.example/c.json"},
		"registered before":  {oauth.Options{Registrations: []oauth.Registration{{Issuer: asURL, ID: "mine", Secret: "SECRET"}}}, ""},
		"registered, bound":  {oauth.Options{Registrations: []oauth.Registration{{ID: "mine", Secret: "SECRET"}}}, ""},
		"registered at both": {oauth.Options{Registrations: []oauth.Registration{{Issuer: asURL, ID: "a"}, {Issuer: "https://new.example", ID: "b"}}}, "b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			old, next := w.issuer(asURL), w.issuer("https://new.example")
			old.secret, next.secret = "SECRET-of-old", "SECRET-of-new"
			for _, is := range []*issuer{old, next} {
				is.meta["client_id_metadata_document_supported"] = true
				is.meta["token_endpoint_auth_methods_supported"] = []string{"client_secret_post"}
			}
			rs := w.resource(mcpURL, old)
			c := w.client(&test.opts)
			mustSend(t, c, mcpURL, "x")
			oldRequests := len(w.requests("as.example"))
			rs.issuers, rs.meta["authorization_servers"] = []*issuer{next}, []string{next.url}
			_, err := send(t, c, mcpURL, "y")
			if test.want == "" {
				var e *oauth.Error
				if !errors.As(err, &e) || e.Step != "register" || len(next.asked)+len(next.forms) > 0 {
					t.Errorf("error %v, want one of the step register and no request to the new issuer", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := next.asked[0].Get("client_id"); got != test.want {
				t.Errorf("client id at the new issuer = %q, want %q", got, test.want)
			}
			for _, form := range next.forms {
				if form.Get("client_secret") == "SECRET-of-old" || form.Has("refresh_token") {
					t.Errorf("the new issuer got something of the old one: %v", form)
				}
			}
			if n := len(w.requests("as.example")); n != oldRequests {
				t.Errorf("the old issuer was asked %d times more", n-oldRequests)
			}
		})
	}
}

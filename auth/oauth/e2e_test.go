package oauth_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/ferrymcp/ferry/auth/authserver"
	"github.com/ferrymcp/ferry/auth/oauth"
	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/httpserver"
	"github.com/ferrymcp/ferry/internal/dpop"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

const confided = "a secret of the client"

// A site is an MCP server with an authorization server, both over real connections.
type site struct {
	t        *testing.T
	issuer   string
	endpoint string
	dpop     bool
	mcp      http.Handler

	mu     sync.Mutex
	bodies [][]byte // of the messages that were let in
}

func newSite(t *testing.T, bound bool) *site {
	as, rs := httptest.NewUnstartedServer(nil), httptest.NewUnstartedServer(nil)
	s := &site{t: t, dpop: bound, issuer: "http://" + as.Listener.Addr().String(), endpoint: "http://" + rs.Listener.Addr().String() + "/mcp"}
	authority, err := authserver.New(authserver.Options{
		Issuer: s.issuer, Resources: []string{s.endpoint}, Scopes: []authserver.Scope{{Name: "greet"}}, RequireNonce: bound,
		Login: func(http.ResponseWriter, *http.Request) (authserver.User, bool) {
			return authserver.User{Subject: "ada"}, true
		},
		Clients: []authserver.Client{
			{ID: "program", Trusted: true, RedirectURIs: []string{"http://127.0.0.1/callback"}},
			{ID: "service", Secret: confided},
			{ID: "api", Secret: confided, Resource: s.endpoint},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	srv := server.New(mcp.Implementation{Name: "greeter", Version: "1"}, nil)
	server.AddTool(srv, mcp.Tool{Name: "greet"}, func(context.Context, *server.Call, struct{}) (string, error) { return "hello", nil })
	s.mcp = httpserver.New(srv, nil)
	as.Config.Handler, rs.Config.Handler = authority, s
	for _, ts := range []*httptest.Server{as, rs} {
		ts.Start()
		t.Cleanup(ts.Close)
	}
	return s
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	prm := strings.TrimSuffix(s.endpoint, "/mcp") + prmPath + "/mcp"
	if r.URL.Path == prmPath+"/mcp" {
		answer(w, http.StatusOK, map[string]any{"resource": s.endpoint, "authorization_servers": []string{s.issuer}})
		return
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !s.good(r, scheme, token) {
		w.Header().Set("WWW-Authenticate", map[bool]string{false: "Bearer", true: "DPoP"}[s.dpop]+` scope="greet", resource_metadata="`+prm+`"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.bodies = append(s.bodies, body)
	s.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.mcp.ServeHTTP(w, r)
}

// good asks the authorization server about a token.
func (s *site) good(r *http.Request, scheme, token string) bool {
	if token == "" {
		return false
	}
	form := url.Values{"token": {token}, "client_id": {"api"}, "client_secret": {confided}}
	res, err := http.PostForm(s.issuer+"/introspect", form)
	if err != nil {
		s.t.Error(err)
		return false
	}
	defer res.Body.Close()
	var in struct {
		Active bool
		Aud    string
		Cnf    struct{ Jkt string }
	}
	if err := json.NewDecoder(res.Body).Decode(&in); err != nil || !in.Active || in.Aud != s.endpoint {
		s.t.Errorf("token is %+v, %v", in, err)
		return false
	}
	if !s.dpop {
		return scheme == "Bearer" && in.Cnf.Jkt == ""
	}
	_, err = dpop.Check(r.Header.Get("DPoP"), dpop.Request{Method: r.Method, URL: s.endpoint, Token: token}, &dpop.Rules{Thumbprint: in.Cnf.Jkt})
	if err != nil {
		s.t.Error(err)
	}
	return scheme == "DPoP" && in.Cnf.Jkt != "" && err == nil
}

// approve visits the page of an authorization server.
func approve(ctx context.Context, rq *oauth.AuthorizationRequest) (string, error) {
	visitor := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, rq.URL, http.NoBody)
	if err != nil {
		return "", err
	}
	res, err := visitor.Do(r)
	if err != nil {
		return "", err
	}
	return res.Header.Get("Location"), res.Body.Close()
}

// TestNobodyLogsIn says why there is no connection: the server is there, and wants a user.
func TestNobodyLogsIn(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	login, err := oauth.New(&oauth.Options{Unattended: true})
	if err != nil {
		t.Fatal(err)
	}
	defer login.Close()
	c := client.New(mcp.Implementation{Name: "c", Version: "1"}, nil)
	_, err = c.Connect(t.Context(), httpclient.New(s.endpoint, &httpclient.Options{Client: login.HTTPClient(s.endpoint)}))
	if unreachable := new(httpclient.UnreachableError); !errors.Is(err, oauth.ErrLoginRequired) || errors.As(err, &unreachable) {
		t.Errorf("error %v, want %v", err, oauth.ErrLoginRequired)
	}
}

// TestAll connects a client to a server that asks for tokens of our own authorization
// server, in revisions of both eras, with nothing between them that is made for tests.
func TestAll(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTHX-CC-CAP", "AUTHX-EMA-CAP", "AUTH-HTTP-CONFORM", "AUTH-BEARER-HEADER")
	for name, test := range map[string]struct {
		revision string
		dpop     bool
		opts     oauth.Options
		declare  []string
	}{
		"user":                {"", false, oauth.Options{Registrations: []oauth.Registration{{ID: "program"}}, Authorize: approve}, nil},
		"user in a session":   {"2025-06-18", false, oauth.Options{Registrations: []oauth.Registration{{ID: "program"}}, Authorize: approve}, nil},
		"user with a key":     {"", true, oauth.Options{Registrations: []oauth.Registration{{ID: "program"}}, Authorize: approve}, nil},
		"service":             {"", false, oauth.Options{Registrations: []oauth.Registration{{ID: "service", Secret: confided}}, Grant: oauth.ClientCredentials{}}, []string{oauth.ExtensionClientCredentials, oauth.ExtensionEnterprise}},
		"service with a key":  {"", true, oauth.Options{Registrations: []oauth.Registration{{ID: "service", Secret: confided}}, Grant: oauth.ClientCredentials{}, DPoP: true}, nil},
		"service, in session": {"2025-11-25", false, oauth.Options{Registrations: []oauth.Registration{{ID: "service", Secret: confided}}, Grant: oauth.ClientCredentials{}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, test.dpop)
			login, err := oauth.New(&test.opts)
			if err != nil {
				t.Fatal(err)
			}
			defer login.Close()
			declared := map[string]json.RawMessage{}
			for _, extension := range test.declare {
				declared[extension] = json.RawMessage(`{}`)
			}
			c := client.New(mcp.Implementation{Name: "c", Version: "1"}, &client.Options{
				Revision: test.revision, Capabilities: mcp.ClientCapabilities{Extensions: declared},
			})
			sess, err := c.Connect(t.Context(), httpclient.New(s.endpoint, &httpclient.Options{Client: login.HTTPClient(s.endpoint)}))
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				res, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "greet"}, nil)
				if err != nil || len(res.Content) != 1 || res.Content[0].Text != "hello" {
					t.Errorf("answer %+v, %v", res, err)
				}
			}
			if err := sess.Close(); err != nil {
				t.Error(err)
			}
			status, err := login.Status(t.Context(), s.endpoint)
			if err != nil || status == nil || status.Issuer != s.issuer || status.Resource != s.endpoint {
				t.Errorf("status = %+v, %v", status, err)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			for _, extension := range test.declare {
				for _, body := range s.bodies {
					if !bytes.Contains(body, []byte(`"`+extension+`":{}`)) {
						t.Errorf("%s is not declared in %s", extension, body)
					}
				}
			}
		})
	}
}

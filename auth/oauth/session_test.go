package oauth_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/auth/oauth"
	"github.com/ferrymcp/ferry/mcptest"
)

// A recorder is a store that shows what is put into it.
type recorder struct {
	oauth.Store

	saved strings.Builder
}

func (r *recorder) Save(ctx context.Context, key string, data []byte) error {
	fmt.Fprintf(&r.saved, "%s %s\n", key, data)
	return r.Store.Save(ctx, key, data)
}

// TestRestart refreshes in another process than the one that has logged in, for each
// kind of client. What the options have is not written down.
func TestRestart(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-AS-BINDING", "AUTH-TOKEN-STORAGE")
	const document = "https://program.example/client.json"
	for name, test := range map[string]struct {
		opts, later oauth.Options
		want        string // the client of the refresh; empty: the user is asked again
	}{
		"registered before": {
			oauth.Options{Registrations: []oauth.Registration{{Issuer: asURL, ID: "mine", Secret: "SECRET-mine"}}},
			oauth.Options{Registrations: []oauth.Registration{{Issuer: asURL, ID: "mine", Secret: "SECRET-new"}}},
			"mine:SECRET-new",
		},
		"at no issuer yet": {
			oauth.Options{Registrations: []oauth.Registration{{ID: "mine", Secret: "SECRET-mine"}}},
			oauth.Options{Registrations: []oauth.Registration{{ID: "mine", Secret: "SECRET-mine"}}},
			"mine:SECRET-mine",
		},
		"by document":    {oauth.Options{MetadataURL: document}, oauth.Options{MetadataURL: document}, document},
		"by registering": {oauth.Options{}, oauth.Options{}, "client-1:SECRET-of-as"},
		"not in the options now": {
			oauth.Options{Registrations: []oauth.Registration{{Issuer: asURL, ID: "mine"}}}, oauth.Options{}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				is := w.issuer(asURL)
				is.secret = "SECRET-of-as"
				is.meta["client_id_metadata_document_supported"] = true
				w.resource(mcpURL, is)
				store := &recorder{Store: oauth.NewMemoryStore()}
				test.opts.Store, test.later.Store = store, store
				mustSend(t, w.client(&test.opts), mcpURL, "x")
				time.Sleep(2 * time.Hour)
				mustSend(t, w.client(&test.later), mcpURL, "x")
				if strings.Contains(store.saved.String(), "SECRET-mine") {
					t.Errorf("the secret of the options is in the store:\n%s", &store.saved)
				}
				if test.want == "" {
					if len(is.asked) != 2 {
						t.Errorf("%d logins, want 2", len(is.asked))
					}
					return
				}
				form := is.last()
				if got := form.Get("basic") + form.Get("client_id"); got != test.want || form.Get("grant_type") != "refresh_token" || len(is.asked) != 1 {
					t.Errorf("refreshed by %q with %v after %d logins, want %q and 1", got, form, len(is.asked), test.want)
				}
			})
		})
	}
}

// TestBodies sends bodies again that net/http could not.
func TestBodies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.resource(mcpURL, w.issuer(asURL))
	c := w.client(nil)
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, mcpURL, io.NopCloser(strings.NewReader("once")))
	res, err := c.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	if body, _ := io.ReadAll(res.Body); string(body) != "hello once" || r.Header.Get("Authorization") != "" {
		t.Errorf("answer %q; the request was changed: %v", body, r.Header)
	}
	c.CloseIdleConnections()
	c.HTTPClient(mcpURL).CloseIdleConnections()
}

// TestLoginFirst logs in before there is a request, whatever the server says to that.
func TestLoginFirst(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		meta   bool
		want   string // part of the error; empty: none
	}{
		"401":             {http.StatusUnauthorized, true, ""},
		"405":             {http.StatusMethodNotAllowed, true, ""},
		"open to anybody": {http.StatusOK, false, "asks for no authorization"},
	} {
		w := newWorld(t)
		is := w.issuer(asURL)
		rs := w.resource(mcpURL, is)
		if !test.meta {
			rs.meta = nil
		}
		w.serve("mcp.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet && r.URL.Path == "/v1/mcp" && test.status != http.StatusUnauthorized {
				rw.WriteHeader(test.status)
				return
			}
			rs.ServeHTTP(rw, r)
		}))
		c := w.client(nil)
		err := c.Login(t.Context(), mcpURL)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: error %v, want %q", name, err, test.want)
		}
		if test.want == "" {
			mustSend(t, c, mcpURL, "x")
			if len(is.asked) != 1 {
				t.Errorf("%s: %d logins, want 1", name, len(is.asked))
			}
		}
	}
	for _, endpoint := range []string{"", "mcp", "ftp://mcp.example/", "https://user:secret@mcp.example/"} {
		if err := newWorld(t).client(nil).Login(t.Context(), endpoint); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("login at %q = %v", endpoint, err)
		}
	}
}

// TestRegistrationIsHidden shows a registration in every way there is.
func TestRegistrationIsHidden(t *testing.T) {
	t.Parallel()
	r := oauth.Registration{Issuer: asURL, ID: "mine", Secret: "hunter2"}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%v %+v %#v %s %q %d %v", r, r, &r, r, r, r, []any{r})
	slog.New(slog.NewJSONHandler(&b, nil)).Info("x", "registration", r, "pointer", &r)
	if text := b.String(); strings.Contains(text, "hunter2") || !strings.Contains(text, "mine") {
		t.Errorf("shows %s", text)
	}
}

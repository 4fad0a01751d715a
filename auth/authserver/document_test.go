package authserver_test

import (
	"crypto/rand"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/auth/authserver"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/netguard"
)

// A publisher serves documents of clients.
type publisher struct {
	*httptest.Server

	fetched atomic.Int64
	mu      sync.Mutex
	pages   map[string]http.HandlerFunc
}

func newPublisher(t *testing.T) *publisher {
	t.Helper()
	p := &publisher{pages: map[string]http.HandlerFunc{}}
	p.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.fetched.Add(1)
		p.mu.Lock()
		page := p.pages[r.URL.Path]
		p.mu.Unlock()
		if page == nil {
			http.NotFound(w, r)
			return
		}
		page(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

// publish serves a document at a path and returns its URL. {ID} in it is the URL.
func (p *publisher) publish(path, document string, header ...string) string {
	id := p.URL + path
	p.serve(path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		fmt.Fprint(w, strings.ReplaceAll(document, "{ID}", id))
	})
	return id
}

func (p *publisher) serve(path string, page http.HandlerFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pages[path] = page
}

// trust lets a server fetch from it, although it is on this machine.
func (p *publisher) trust(o *authserver.Options) {
	o.RootCAs = x509.NewCertPool()
	o.RootCAs.AddCert(p.Certificate())
	o.Guard = &netguard.Dialer{Hosts: []string{p.Listener.Addr().String()}}
}

const plain = `{"client_id":"{ID}","client_name":"Documented","redirect_uris":["` + callback + `","https://app.example/cb"],
	"grant_types":["authorization_code","refresh_token"],"token_endpoint_auth_method":"none"}`

// TestDocument signs in with a client that nobody has registered.
func TestDocument(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-CIMD-SUPPORT", "AUTH-CIMD-ADVERTISE", "AUTH-CIMD-AS-FETCH", "AUTH-CIMD-AS-SHOW-HOST", "AUTH-CIMD-AS-LOCALHOST-WARN")
	p := newPublisher(t)
	b := start(t, p.trust)
	id := p.publish("/client.json", plain, "Cache-Control", "max-age=60")
	_, refresh := b.tokens(b.login(id))
	b.tokens(b.token("refresh_token", "client_id", id, "refresh_token", refresh))
	if got := p.fetched.Load(); got != 1 {
		t.Errorf("the document was fetched %d times, want once", got)
	}
	_, challenge := newPair()
	page := b.get(b.issuer + "/authorize?" + request(id, callback, challenge).Encode()).body
	for _, want := range []string{"Documented", "<dd>127.0.0.1</dd>", "described by <strong>" + p.Listener.Addr().String(), "program on this device"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q\n%s", want, page)
		}
	}
	page = b.get(b.issuer + "/authorize?" + request(id, "https://app.example/cb", challenge).Encode()).body
	if !strings.Contains(page, "<dd>app.example</dd>") || strings.Contains(page, "program on this device") {
		t.Errorf("got %s, want the host of the redirect URI and no warning", page)
	}
	// One that may not be kept is fetched each time.
	before := p.fetched.Load()
	b.tokens(b.login(p.publish("/fresh.json", plain, "Cache-Control", "no-store")))
	if got := p.fetched.Load() - before; got < 2 {
		t.Errorf("a document that may not be kept was fetched %d times, want more", got)
	}
	off := start(t, func(o *authserver.Options) { p.trust(o); o.NoDocuments = true })
	if got := off.get(off.issuer + "/authorize?" + request(id, callback, challenge).Encode()); got.status != http.StatusUnauthorized {
		t.Errorf("turned off: got status %d, want 401", got.status)
	}
}

// TestDocumentKeys authenticates with the keys in a document, or that it names.
func TestDocumentKeys(t *testing.T) {
	t.Parallel()
	key, thief := newSigner(t, "k"), newSigner(t, "k")
	p := newPublisher(t)
	b := start(t, p.trust)
	const document = `{"client_id":"{ID}","client_name":"With keys","redirect_uris":["` + callback + `"],"token_endpoint_auth_method":"private_key_jwt",`
	p.publish("/keys", string(key.jwks()))
	for _, id := range []string{
		p.publish("/inline", document+`"jwks":`+string(key.jwks())+`}`),
		p.publish("/linked", document+`"jwks_uri":"`+p.URL+`/keys"}`),
	} {
		verifier, challenge := newPair()
		code := b.allow(request(id, callback, challenge)).Get("code")
		ask := func(s signer, changes ...string) reply {
			now := time.Now().Unix()
			assertion := s.sign("JWT", map[string]any{"iss": id, "sub": id, "aud": b.issuer, "exp": now + 60, "iat": now, "jti": rand.Text()})
			return b.token("authorization_code", append([]string{
				"code", code, "code_verifier", verifier, "client_assertion", assertion,
				"client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
			}, changes...)...)
		}
		b.wantError(ask(thief), 401, "invalid_client")
		b.wantError(b.token("authorization_code", "client_id", id, "code", code, "code_verifier", verifier), 401, "invalid_client")
		b.tokens(ask(key))
	}
}

// TestDocumentRefused publishes documents that must not make a client.
func TestDocumentRefused(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-CIMD-AS-VALIDATE")
	p := newPublisher(t)
	b := start(t, p.trust)
	document := func(changes string) string {
		return `{"client_id":"{ID}","client_name":"x","redirect_uris":["` + callback + `"]` + changes + `}`
	}
	// What it leads to would be right, if it were followed.
	p.serve("/moved", http.RedirectHandler(p.publish("/there", strings.ReplaceAll(plain, "{ID}", p.URL+"/moved")), http.StatusFound).ServeHTTP)
	p.publish("/other", plain)
	p.serve("/html", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, strings.ReplaceAll(plain, "{ID}", p.URL+"/html"))
	})
	p.serve("/broken", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(w, strings.ReplaceAll(plain, "{ID}", p.URL+"/broken"))
	})
	ids := map[string]string{
		"id of another":           p.publish("/a", strings.ReplaceAll(plain, "{ID}", p.URL+"/other")),
		"id with another query":   p.publish("/b", plain) + "?x",
		"no id":                   p.publish("/c", `{"client_name":"x","redirect_uris":["`+callback+`"]}`),
		"no name":                 p.publish("/d", `{"client_id":"{ID}","redirect_uris":["`+callback+`"]}`),
		"no redirect URIs":        p.publish("/e", `{"client_id":"{ID}","client_name":"x"}`),
		"other redirect URIs":     p.publish("/f", `{"client_id":"{ID}","client_name":"x","redirect_uris":["https://app.example/cb"]}`),
		"script to redirect to":   p.publish("/g", `{"client_id":"{ID}","client_name":"x","redirect_uris":["`+callback+`","javascript:alert(1)"]}`),
		"secret":                  p.publish("/h", document(`,"client_secret":"x"`)),
		"authentication with one": p.publish("/i", document(`,"token_endpoint_auth_method":"client_secret_basic"`)),
		"key it lacks":            p.publish("/j", document(`,"token_endpoint_auth_method":"private_key_jwt"`)),
		"keys over http":          p.publish("/k", document(`,"token_endpoint_auth_method":"private_key_jwt","jwks_uri":"http://localhost/"`)),
		"no JSON":                 p.publish("/l", `client_id=ID`),
		"too long":                p.publish("/m", document(`,"x":"`+strings.Repeat("x", 20_000)+`"`)),
		"moved":                   p.URL + "/moved",
		"page":                    p.URL + "/html",
		"broken":                  p.URL + "/broken",
		"missing":                 p.URL + "/missing",
		"root":                    p.URL + "/",
		"no path":                 p.URL,
		"dot segments":            p.URL + "/x/../other",
		"fragment":                p.URL + "/other#x",
		"user":                    strings.Replace(p.URL, "https://", "https://u@", 1) + "/other",
		"http":                    strings.Replace(p.URL, "https://", "http://", 1) + "/other",
	}
	_, challenge := newPair()
	for name, id := range ids {
		got := b.get(b.issuer + "/authorize?" + request(id, callback, challenge).Encode())
		if got.status < 400 || got.status >= 500 || got.header.Get("Location") != "" {
			t.Errorf("%s: got status %d, Location %q, want it refused", name, got.status, got.header.Get("Location"))
		}
	}
}

// TestDocumentInside names documents that only this machine can reach: the server
// does not go there, and does not tell what is there.
func TestDocumentInside(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-CIMD-AS-SSRF", "SEC-SSRF-PRIVATE-IP", "SEC-SSRF-REDIRECTS")
	p := newPublisher(t)
	b := start(t, func(o *authserver.Options) { p.trust(o); o.Guard = nil })
	_, challenge := newPair()
	_, port, _ := strings.Cut(p.Listener.Addr().String(), ":")
	pages := map[string]bool{}
	for _, id := range []string{
		p.publish("/client.json", plain),
		"https://localhost:" + port + "/client.json",
		"https://[::ffff:127.0.0.1]:" + port + "/client.json",
		"https://0.0.0.0:" + port + "/client.json",
		"https://169.254.169.254/latest/meta-data",
		"https://127.0.0.1:1/nothing",
	} {
		got := b.get(b.issuer + "/authorize?" + request(id, callback, challenge).Encode())
		if got.status != http.StatusUnauthorized {
			t.Errorf("%s: got status %d, want 401", id, got.status)
		}
		pages[got.body] = true
	}
	if len(pages) != 1 {
		t.Errorf("got %d different pages: they tell what is there", len(pages))
	}
	if got := p.fetched.Load(); got != 0 {
		t.Errorf("%d requests came to this machine, want none", got)
	}
	// A public host that sends the server inside is not followed.
	inside := newPublisher(t)
	outside := newPublisher(t)
	outside.serve("/client.json", http.RedirectHandler(inside.publish("/client.json", plain), http.StatusFound).ServeHTTP)
	b = start(t, outside.trust)
	if got := b.get(b.issuer + "/authorize?" + request(outside.URL+"/client.json", callback, challenge).Encode()); got.status != http.StatusUnauthorized {
		t.Errorf("redirect: got status %d, want 401", got.status)
	}
	if outside.fetched.Load() != 1 || inside.fetched.Load() != 0 {
		t.Errorf("got %d requests outside and %d inside, want 1 and 0", outside.fetched.Load(), inside.fetched.Load())
	}
}

// TestDocumentTogether asks for one document from many sides: it is fetched once, and
// those who ask for too many are sent away.
func TestDocumentTogether(t *testing.T) {
	t.Parallel()
	p := newPublisher(t)
	b := start(t, p.trust)
	id := p.publish("/client.json", plain)
	_, challenge := newPair()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if got := b.get(b.issuer + "/authorize?" + request(id, callback, challenge).Encode()); got.status != http.StatusOK {
				t.Errorf("got status %d, want the page", got.status)
			}
		})
	}
	wg.Wait()
	if got := p.fetched.Load(); got != 1 {
		t.Errorf("the document was fetched %d times, want once", got)
	}
	var refused atomic.Int64
	for i := range 60 {
		wg.Go(func() {
			id := fmt.Sprintf("%s/none/%d", p.URL, i)
			if b.get(b.issuer+"/authorize?"+request(id, callback, challenge).Encode()).status == http.StatusServiceUnavailable {
				refused.Add(1)
			}
		})
	}
	wg.Wait()
	if refused.Load() == 0 {
		t.Error("many other documents at once: got all of them fetched, want some refused")
	}
	if got := b.get(b.issuer + "/authorize?" + request(id, callback, challenge).Encode()); got.status != http.StatusOK {
		t.Errorf("one that is known: got status %d, want the page", got.status)
	}
}

package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// A receiver waits on this machine for the browser to come back from a login.
type receiver struct {
	uri string

	program string
	server  *http.Server // nil: somebody else receives
	host    string       // that requests must name
	path    string
	serving sync.WaitGroup // of the server's listeners

	answers chan url.Values // the one that counts
	once    sync.Once
	done    chan struct{} // closed when outcome is set
	outcome error

	mu   sync.Mutex
	mine func(url.Values) bool // nil before anything is expected
}

// listen makes ready to receive the browser, if possible at the port that our client
// is registered with.
func (s *session) listen(ctx context.Context, id *identity) (*receiver, error) {
	r := &receiver{
		uri: s.c.opts.RedirectURL, program: s.c.opts.Name,
		answers: make(chan url.Values, 1), done: make(chan struct{}),
	}
	if s.c.opts.Authorize != nil {
		return r, nil
	}
	u, err := url.Parse(s.c.opts.RedirectURL)
	if err != nil {
		return nil, err
	}
	port := u.Port()
	if port == "" && id != nil {
		if before, err := url.Parse(id.Redirect); err == nil && before.Hostname() == u.Hostname() {
			port = before.Port()
		}
	}
	listeners, err := listenLocal(ctx, u.Hostname(), port)
	if err != nil && port != u.Port() {
		listeners, err = listenLocal(ctx, u.Hostname(), "")
	}
	if err != nil {
		return nil, err
	}
	r.serve(u, listeners)
	return r, nil
}

// listenLocal listens at a port, any free one without, of the loopback addresses that
// a host stands for. Browsers differ in which one localhost is.
func listenLocal(ctx context.Context, host, port string) ([]net.Listener, error) {
	first, second := "127.0.0.1", ""
	switch {
	case strings.Contains(host, ":"):
		first = host
	case host == "localhost":
		second = "::1"
	case net.ParseIP(host) != nil:
		first = host
	}
	if port == "" {
		port = "0"
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", net.JoinHostPort(first, port))
	if err != nil {
		return nil, err
	}
	listeners := []net.Listener{l}
	if second != "" {
		_, port, _ = net.SplitHostPort(l.Addr().String())
		if l, err := config.Listen(ctx, "tcp", net.JoinHostPort(second, port)); err == nil {
			listeners = append(listeners, l)
		}
	}
	return listeners, nil
}

func (r *receiver) serve(u *url.URL, listeners []net.Listener) {
	_, port, _ := net.SplitHostPort(listeners[0].Addr().String())
	own := *u
	own.Host = net.JoinHostPort(u.Hostname(), port)
	r.uri, r.host, r.path = own.String(), own.Host, own.EscapedPath()
	if r.path == "" {
		r.path = "/"
	}
	r.server = &http.Server{
		Handler: r, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
	}
	for _, l := range listeners {
		r.serving.Go(func() { _ = r.server.Serve(l) })
	}
}

// expect takes the first answer that is mine from now on. It comes before the page is
// shown, because a browser that has nothing to ask the user is back at once.
func (r *receiver) expect(mine func(url.Values) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mine = mine
}

// wait returns the parameters of the answer.
func (r *receiver) wait(ctx context.Context) (url.Values, error) {
	select {
	case q := <-r.answers:
		return q, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// finish says what became of the login, which the page in the browser waits for.
func (r *receiver) finish(err error) {
	r.once.Do(func() {
		r.outcome = err
		close(r.done)
	})
}

// close lets the page be read and ends the server.
func (r *receiver) close(ctx context.Context) {
	r.finish(context.Canceled)
	if r.server == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 500*time.Millisecond)
	defer cancel()
	if r.server.Shutdown(ctx) != nil {
		_ = r.server.Close()
	}
	r.serving.Wait()
}

// ServeHTTP implements http.Handler. The browser may be sent here by anybody, also
// under other names of this machine.
func (r *receiver) ServeHTTP(w http.ResponseWriter, rq *http.Request) {
	switch {
	case rq.Host != r.host || rq.URL.EscapedPath() != r.path:
		http.NotFound(w, rq)
		return
	case rq.Method != http.MethodGet:
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	q, err := url.ParseQuery(rq.URL.RawQuery)
	r.mu.Lock()
	mine := r.mine
	r.mu.Unlock()
	if err != nil || mine == nil || !mine(q) {
		r.page(w, http.StatusBadRequest, "Nothing happened", "This page does not belong to a login that "+r.program+" has begun. You can close it.")
		return
	}
	select {
	case r.answers <- q:
	default:
		r.page(w, http.StatusConflict, "Nothing happened", "This login was answered before. You can close this page.")
		return
	}
	select {
	case <-r.done:
	case <-rq.Context().Done():
		return
	}
	switch {
	case r.outcome == nil:
		r.page(w, http.StatusOK, "Logged in", r.program+" is logged in. You can close this page.")
	case codeOf(r.outcome) == oauthwire.ErrorAccessDenied:
		r.page(w, http.StatusOK, "Not logged in", "Access was denied, so "+r.program+" is not logged in. You can close this page.")
	default:
		r.page(w, http.StatusOK, "Not logged in", r.program+" could not log in. You can close this page.",
			oauthwire.Printable(r.outcome.Error(), 500))
	}
}

const pageStyle = "body{font:1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:0 auto;padding:2rem 1rem;overflow-wrap:anywhere}" +
	"h1{font-size:1.5rem;line-height:1.25}"

var (
	pageHash     = sha256.Sum256([]byte(pageStyle))
	pagePolicy   = "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(pageHash[:]) + "'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
	pageTemplate = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{{.Title}}</title>
<style>` + pageStyle + `</style>
<main>
<h1>{{.Title}}</h1>{{range .Texts}}
<p>{{.}}</p>{{end}}
</main>
`))
)

func (r *receiver) page(w http.ResponseWriter, status int, title string, texts ...string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer") // the code is in the URL
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = pageTemplate.Execute(w, struct {
		Title string
		Texts []string
	}{title, texts})
}

package fetch_test

import (
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/apps/servers/fetch"
	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/netguard"
)

// TestRefusedURLs asks a server without exceptions for what is not public.
func TestRefusedURLs(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	site := serve(t, func(http.ResponseWriter, *http.Request) { reached.Add(1) })
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(site, "http://"))
	for _, proxy := range []string{"", site} {
		sess := mcptest.Pair(t, newServer(t, &fetch.Options{Dialer: &netguard.Dialer{}, Proxy: proxy, IgnoreRobots: true}), nil)
		for _, url := range []string{
			site, "http://localhost:" + port, "http://LOCALHOST.:" + port, "http://127.1:" + port, "http://2130706433:" + port,
			"http://0x7f000001:" + port, "http://0x7f.1:" + port, "http://0177.0.0.1:" + port, "http://0:" + port, "http://0.0.0.0:" + port,
			"http://[::1]:" + port, "http://[::]:" + port, "http://[::ffff:127.0.0.1]:" + port, "http://[::ffff:7f00:1]:" + port,
			"http://[::127.0.0.1]:" + port, "http://[64:ff9b::7f00:1]:" + port, "http://[2002:7f00:1::]:" + port, "http://[fe80::1%25lo]:" + port,
			"http://[fd00:ec2::254]/latest/meta-data", "http://169.254.169.254/latest/meta-data", "http://100.100.100.200/",
			"http://10.0.0.1/", "http://192.168.1.1/", "http://172.16.0.1/", "http://224.0.0.1/", "http://255.255.255.255/",
			"http://example.com@127.0.0.1:" + port, "http://user:secret@127.0.0.1:" + port,
			"file:///etc/passwd", "FILE:///etc/passwd", "ftp://example.com/", "gopher://127.0.0.1/", "data:text/plain,x", "javascript:1",
			"unix:///run/docker.sock", "//example.com/", "example.com", "http:///x", "http://", "http:x", "", " ",
			"http://example.com/\r\nX-Injected: 1", "http://example.com\r\nHost: x/", "http://a%0d%0ab/", "http://a b/", "http://exa\x00mple/",
			"http://example.com:99999999/", "http://127.0.0.1:" + port + "/" + strings.Repeat("x", 10_000),
		} {
			result, text := call(t, sess, object{"url": url})
			if !result.IsError {
				t.Errorf("proxy %q: %q is fetched: %s", proxy, url, text)
			}
			if strings.Contains(text, "secret") {
				t.Errorf("%q: the error tells the password: %s", url, text)
			}
			if n := reached.Swap(0); n > 0 {
				t.Errorf("proxy %q: %q reaches the site %d times", proxy, url, n)
			}
		}
	}
}

// TestRedirects are refused where the URL they lead to would be.
func TestRedirects(t *testing.T) {
	t.Parallel()
	var reached atomic.Bool
	inner := strings.Replace(serve(t, func(http.ResponseWriter, *http.Request) { reached.Store(true) }), "127.0.0.1", "localhost", 1)
	location := make(chan string, 1)
	site := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		to := <-location
		location <- to
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	// Only the first site may be reached, by its name and port.
	dialer := &netguard.Dialer{Hosts: []string{strings.TrimPrefix(site, "http://")}}
	sess := mcptest.Pair(t, newServer(t, &fetch.Options{Dialer: dialer, IgnoreRobots: true}), nil)
	for _, to := range []string{
		inner, strings.Replace(inner, "localhost", "[::ffff:127.0.0.1]", 1), "file:///etc/passwd", "gopher://x/", "//localhost:1/", "http://%zz/",
		"http://169.254.169.254/", "/again", site, "http://0x7f.1/", "/" + strings.Repeat("x", 10_000),
	} {
		location <- to
		if result, text := call(t, sess, object{"url": site}); !result.IsError || strings.Contains(text, "root:") {
			t.Errorf("a redirect to %s is followed: %s", to, text)
		}
		<-location
	}
	if reached.Load() {
		t.Error("a redirect leads to an address that may not be reached")
	}
}

// TestRebinding has a name server that says a name of the Internet is this machine.
func TestRebinding(t *testing.T) {
	t.Parallel()
	var reached atomic.Bool
	site := serve(t, func(http.ResponseWriter, *http.Request) { reached.Store(true) })
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(site, "http://"))
	var asked atomic.Int32
	resolver := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		asked.Add(1)
		context.AfterFunc(t.Context(), func() { _ = there.Close() })
		names.Go(func() { answer(there) })
		return here, nil
	}}
	t.Cleanup(names.Wait)
	sess := mcptest.Pair(t, newServer(t, &fetch.Options{Dialer: &netguard.Dialer{Resolver: resolver}, IgnoreRobots: true}), nil)
	for range 3 {
		if result, text := call(t, sess, object{"url": "http://rebind.example:" + port}); !result.IsError || strings.Contains(text, "127.0.0.1") {
			t.Errorf("got %q, want an error without addresses", text)
		}
	}
	if reached.Load() || asked.Load() == 0 {
		t.Errorf("reached %t, asked %d times", reached.Load(), asked.Load())
	}
}

// TestTooMuch gets what has no end.
func TestTooMuch(t *testing.T) {
	t.Parallel()
	zeros := make([]byte, 64<<10)
	site := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		var to io.Writer = w
		switch r.URL.Path {
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			packed := gzip.NewWriter(w)
			defer packed.Close()
			to = packed
		case "/twice":
			w.Header().Set("Content-Encoding", "gzip, gzip")
		case "/slow":
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		case "/header":
			w.Header().Set("X-Long", strings.Repeat("x", 1<<20))
			return
		case "/silent":
			<-r.Context().Done()
			return
		}
		for range 1 << 10 { // 64 MiB
			if _, err := to.Write(zeros); err != nil {
				return
			}
		}
	})
	small := mcptest.Pair(t, newServer(t, &fetch.Options{IgnoreRobots: true, Limits: fetch.Limits{Bytes: 1 << 20}}), nil)
	short := mcptest.Pair(t, newServer(t, &fetch.Options{IgnoreRobots: true, Limits: fetch.Limits{Time: 200 * time.Millisecond}}), nil)
	for _, tt := range []struct {
		sess       *client.Session
		path, want string
	}{
		{small, "/bomb", "longer than"},
		{small, "/endless", "longer than"},
		{small, "/twice", "compressed"},
		{small, "/header", "cannot be fetched"},
		{short, "/slow", "too long"},
		{short, "/silent", "too long"},
	} {
		if result, text := call(t, tt.sess, object{"url": site + tt.path}); !result.IsError || !strings.Contains(text, tt.want) {
			t.Errorf("%s: got %q, want an error with %q", tt.path, text, tt.want)
		}
	}
}

// TestCredentials stay with the site that they were given for.
func TestCredentials(t *testing.T) {
	t.Parallel()
	second := serve(t, func(w http.ResponseWriter, r *http.Request) {
		say(w, "text/plain", "got "+r.Header.Get("Authorization"))
	})
	first := serve(t, func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		switch r.URL.Path {
		case "/robots.txt":
			if user != "" {
				t.Error("robots.txt is asked for with credentials")
			}
			http.NotFound(w, r)
		case "/out":
			http.Redirect(w, r, second, http.StatusFound)
		case "/planted":
			http.Redirect(w, r, strings.Replace(second, "://", "://eve:x@", 1), http.StatusFound)
		case "/in":
			http.Redirect(w, r, "/", http.StatusFound)
		default:
			say(w, "text/plain", "got "+user+" "+password)
		}
	})
	sess := mcptest.Pair(t, newServer(t, &fetch.Options{}), nil)
	with := strings.Replace(first, "://", "://ann:secret@", 1)
	for path, want := range map[string]string{"/": "got ann secret", "/in": "got ann secret", "/out": "got ", "/planted": "got "} {
		_, text := call(t, sess, object{"url": with + path})
		if !strings.HasSuffix(text, ":\n"+want) || strings.Contains(text, "ann:secret") {
			t.Errorf("%s: got %q, want %q", path, text, want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for _, o := range []*fetch.Options{{UserAgent: "a\r\nX: 1"}, {Proxy: "proxy:1"}, {Proxy: "file:///x"}} {
		if _, err := fetch.New(o); err == nil {
			t.Errorf("New(%+v) makes a server", o)
		}
	}
}

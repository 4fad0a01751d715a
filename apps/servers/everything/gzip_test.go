package everything_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/apps/servers/everything"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/netguard"
)

// TestForgedRequests asks for what only this machine or its network can reach.
func TestForgedRequests(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	web := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer web.Close()
	port := web.URL[strings.LastIndexByte(web.URL, ':')+1:]
	sess := mcptest.Pair(t, newServer(), nil)
	for _, url := range []string{
		web.URL, "http://localhost:" + port, "http://[::1]:" + port, "http://[::ffff:127.0.0.1]:" + port, "http://0.0.0.0:" + port,
		"http://[::]:" + port, "http://127.1:" + port, "http://2130706433:" + port, "http://0x7f000001:" + port, "http://0177.0.0.1:" + port,
		"http://user:password@127.0.0.1:" + port, "http://[64:ff9b::7f00:1]:" + port, "http://[::127.0.0.1]:" + port,
		"http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/", "http://192.168.1.1/", "http://[fe80::1]/", "http://[fd00::1]/",
		"file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1:" + port + "/x", "unix:///var/run/docker.sock", "javascript:1", "http://", "://", "data:nothing",
	} {
		arguments, _ := json.Marshal(map[string]string{"data": url})
		if got := text(t, sess, "gzip-file-as-resource", string(arguments)); !strings.HasSuffix(got, "(error)") || strings.Contains(got, "password@") {
			t.Errorf("%s: got %q", url, got)
		}
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("the web server on this machine was reached %d times", n)
	}
}

// TestFetch fetches from a web server that does what it should not.
func TestFetch(t *testing.T) {
	t.Parallel()
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 64 {
		_, _ = z.Write(make([]byte, 1<<20)) // writing to memory does not fail
	}
	_ = z.Close()
	release := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/ok", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "2097152")
		_, _ = w.Write(make([]byte, 2<<20))
	})
	mux.HandleFunc("/liar", func(w http.ResponseWriter, _ *http.Request) {
		for range 32 {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	})
	mux.HandleFunc("/bomb", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb.Bytes())
	})
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	mux.HandleFunc("/metadata", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/latest/", http.StatusFound)
	})
	mux.HandleFunc("/file", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "file:///etc/passwd")
		w.WriteHeader(http.StatusFound)
	})
	mux.HandleFunc("/elsewhere", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://example.org/", http.StatusFound)
	})
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	web := httptest.NewServer(mux)
	defer web.Close()
	defer close(release)
	srv := everything.New(&everything.Options{Fetch: everything.Fetch{
		Size: 1 << 20, Time: 500 * time.Millisecond, Domains: []string{"127.0.0.1"},
		Dialer: &netguard.Dialer{Prefixes: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}},
	}})
	defer srv.Close()
	sess := mcptest.Pair(t, srv.Server, nil)
	for path, want := range map[string]string{
		"/large": "at most 1048576", "/liar": "longer than", "/bomb": "longer than", "/slow": "took longer", "/loop": "redirected more than",
		"/metadata": "domain 169.254.169.254", "/file": "not a scheme", "/elsewhere": "domain example.org",
	} {
		if got := text(t, sess, "gzip-file-as-resource", fmt.Sprintf(`{"data":%q}`, web.URL+path)); !strings.Contains(got, want) || !strings.HasSuffix(got, "(error)") {
			t.Errorf("%s: got %q, want an error with %q", path, got, want)
		}
	}
	if got := text(t, sess, "gzip-file-as-resource", `{"data":"http://example.org/"}`); !strings.Contains(got, "domain example.org is not one") {
		t.Errorf("another domain: %q", got)
	}
	r := call(t, sess, "gzip-file-as-resource", fmt.Sprintf(`{"data":%q,"outputType":"resource"}`, web.URL+"/ok"), nil)
	if r.IsError || unzip(t, r.Content[0].Resource.Blob) != "hello" {
		t.Errorf("what is allowed: %+v", r)
	}
}

package httpclient_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/transport"
)

const (
	modern = "2026-07-28"
	legacy = "2025-11-25"
)

// inbox notes what a server sends by itself, as "method@related".
type inbox struct {
	mu    sync.Mutex
	got   []string
	stray []string
	each  chan string // when set, gets every message too
}

func (b *inbox) Receive(m jsonrpc.Message, related jsonrpc.ID) {
	s := m.Method + "@" + related.String()
	b.mu.Lock()
	b.got = append(b.got, s)
	b.mu.Unlock()
	if b.each != nil {
		b.each <- s
	}
}

func (b *inbox) Stray(frame []byte, reason error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stray = append(b.stray, string(frame)+": "+reason.Error())
}

func (b *inbox) messages() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.got)
}

func (b *inbox) strays() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.stray)
}

// open starts a server and a connection to it; both end with the test.
func open(t testing.TB, h http.HandlerFunc, opts *httpclient.Options) (transport.RoundTripper, *inbox) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	box := &inbox{}
	return dial(t, srv.URL+"/mcp", opts, box), box
}

func dial(t testing.TB, url string, opts *httpclient.Options, box transport.Receiver) transport.RoundTripper {
	t.Helper()
	rt, err := httpclient.New(url, opts).Open(t.Context(), box)
	if err != nil {
		t.Fatalf("Open(%q): %v", url, err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return rt
}

// answer returns a handler that gives every request the same answer.
func answer(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		} else {
			w.Header()["Content-Type"] = nil
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func request(id int64, method string) *transport.Outgoing {
	return &transport.Outgoing{ID: jsonrpc.IntID(id), Method: method, Revision: legacy}
}

// sse writes data as events and flushes each.
func sse(w http.ResponseWriter, data ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, d := range data {
		_, _ = fmt.Fprintf(w, "data: %s\n\n", d)
		_ = http.NewResponseController(w).Flush()
	}
}

func result(id int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"n":%d}}`, id, id) }

// show gives the outcome of a RoundTrip in one line.
func show(r transport.Response, err error) string {
	switch {
	case err != nil:
		return "failed: " + err.Error()
	case r.Error != nil:
		return fmt.Sprintf("%d error %v", r.Status, r.Error)
	}
	return fmt.Sprintf("%d %s", r.Status, r.Result)
}

func roundTrip(ctx context.Context, rt transport.RoundTripper, id int64) string {
	return show(rt.RoundTrip(ctx, request(id, "ping")))
}

func contains(list []string, part string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, part) })
}

package httpclient_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/transport"
)

// A script answers the POST with the first part and each GET with the next;
// after the last one, with 405. A part that begins with a digit is a status.
type script struct {
	t     *testing.T
	parts []string
	gets  atomic.Int32
	ids   chan string    // the Last-Event-ID of each GET
	times chan time.Time // when each request came
}

func newScript(t *testing.T, parts ...string) *script {
	return &script{t: t, parts: parts, ids: make(chan string, 100), times: make(chan time.Time, 100)}
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.times <- time.Now()
	if r.Method == http.MethodDelete {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	n := 0
	if r.Method == http.MethodGet {
		s.ids <- r.Header.Get("Last-Event-Id")
		n = int(s.gets.Add(1))
		if got := r.Header.Get("Mcp-Protocol-Version"); got != legacy {
			s.t.Errorf("GET with the revision %q", got)
		}
	}
	part := "405"
	if n < len(s.parts) {
		part = s.parts[n]
	}
	if '0' <= part[0] && part[0] <= '9' {
		var status int
		_, _ = fmt.Sscan(part, &status)
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, part)
	_ = http.NewResponseController(w).Flush()
	if strings.HasSuffix(part, "CUT") {
		panic(http.ErrAbortHandler)
	}
}

const told = `{"jsonrpc":"2.0","method":"notifications/progress","params":{}}`

func TestResume(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-RESUME-GET", "HTTP-SSE-POLL-RECONNECT")
	const done = "id: 9\ndata: " + `{"jsonrpc":"2.0","id":1,"result":{"n":1}}` + "\n\n"
	tests := []struct {
		name  string
		parts []string
		want  string
		ids   string
		notes int
	}{
		{"polled", []string{"id: 1\nretry: 5\ndata:\n\n", done}, `200 {"n":1}`, "1", 0},
		{"polled again", []string{"id: 1\nretry: 5\ndata:\n\n", "retry: 2\ndata:\n\n", "id: 2\ndata: " + told + "\n\n", done}, `200 {"n":1}`, "1 1 2", 1},
		{"cut within an event", []string{"retry: 5\nid: 1\ndata: " + told + "\n\nid: 2\ndata: CUT", "id: 2\ndata: " + told + "\n\n" + done}, `200 {"n":1}`, "1", 2},
		{"the server is away for a while", []string{"retry: 5\nid: 1\ndata:\n\n", "503", "429", done}, `200 {"n":1}`, "1 1 1", 0},
		{"an id alone", []string{"retry: 5\nid: 1\n\n", done}, `200 {"n":1}`, "1", 0},
		{"no ids", []string{"retry: 5\ndata: " + told + "\n\n"}, "failed: answer ended without the response", "", 1},
		{"gone", []string{"retry: 5\nid: 1\ndata:\n\n", "410"}, "failed: answer ended without the response; it could not be resumed: server answered 410 Gone", "1", 0},
		{"no stream", []string{"retry: 5\nid: 1\ndata:\n\n", "204"}, "failed: answer ended without the response; it could not be resumed: server answered 204", "1", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newScript(t, tt.parts...)
			rt, box := open(t, s.ServeHTTP, nil)
			if got := roundTrip(t.Context(), rt, 1); !strings.HasPrefix(got, tt.want) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			close(s.ids)
			var ids []string
			for id := range s.ids {
				ids = append(ids, id)
			}
			if got := strings.Join(ids, " "); got != tt.ids {
				t.Errorf("asked for %q, want %q", got, tt.ids)
			}
			if got := len(box.messages()); got != tt.notes {
				t.Errorf("got %d messages, want %d", got, tt.notes)
			}
		})
	}
}

func TestRetryIsRespected(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-SSE-RETRY-RESPECT")
	for _, tt := range []struct {
		part string
		wait time.Duration
	}{
		{"id: 1\nretry: 150\ndata:\n\n", 150 * time.Millisecond},
		{"id: 1\nretry: 1\ndata:\n\nretry: 150\n\n", 150 * time.Millisecond}, // the last one counts
		{"retry: 150\ndata:\n\nid: 1\ndata: " + told + "\n\n", 150 * time.Millisecond},
		{"id: 1\ndata:\n\n", time.Second},
	} {
		s := newScript(t, tt.part, "410")
		rt, _ := open(t, s.ServeHTTP, nil)
		_ = roundTrip(t.Context(), rt, 1)
		first, second := <-s.times, <-s.times
		if waited := second.Sub(first); waited < tt.wait || waited > tt.wait+5*time.Second {
			t.Errorf("waited %v, want %v", waited, tt.wait)
		}
	}
}

// A request that the server may have carried out is not taken for one that it
// has not seen, though the session is lost.
func TestSessionLostWhileResuming(t *testing.T) {
	t.Parallel()
	rt, _ := open(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Mcp-Session-Id", "s")
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "id: 1\nretry: 1\ndata:\n\n")
		if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), "initialize") {
			_, _ = io.WriteString(w, "data: "+result(1)+"\n\n")
		}
	}, nil)
	if got := show(rt.RoundTrip(t.Context(), request(1, "initialize"))); !strings.HasPrefix(got, "200") {
		t.Fatal(got)
	}
	_, err := rt.RoundTrip(t.Context(), request(2, "tools/call"))
	var broken *httpclient.NoResponseError
	if !errors.As(err, &broken) || errors.Is(err, transport.ErrSessionLost) || rt.Err() != nil {
		t.Errorf("got %v; the connection: %v", err, rt.Err())
	}
}

func TestStatelessStreamsAreNotResumed(t *testing.T) {
	t.Parallel()
	s := newScript(t, "id: 1\nretry: 1\ndata: "+told+"\n\n")
	rt, _ := open(t, s.ServeHTTP, nil)
	m := request(1, "tools/call")
	m.Revision, m.Route = modern, &transport.Route{Name: "x"}
	_, err := rt.RoundTrip(t.Context(), m)
	var broken *httpclient.NoResponseError
	if !errors.As(err, &broken) || s.gets.Load() != 0 {
		t.Errorf("got %v after %d GETs", err, s.gets.Load())
	}
}

func TestWaitingEnds(t *testing.T) {
	t.Parallel()
	s := newScript(t, "id: 1\nretry: 3600000\ndata: "+told+"\n\n")
	rt, box := open(t, s.ServeHTTP, nil)
	box.each = make(chan string, 1)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	done := make(chan string)
	go func() { done <- roundTrip(ctx, rt, 1) }()
	<-box.each
	cancel(enough)
	if got := <-done; got != "failed: enough" {
		t.Errorf("got %s", got)
	}
	go func() { done <- roundTrip(t.Context(), rt, 1) }()
	<-box.each
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
	if got := <-done; got != "failed: "+transport.ErrClosed.Error() {
		t.Errorf("got %s", got)
	}
}

func TestStandingStreamIsResumed(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-RESUME-GET")
	event := func(id int) string { return fmt.Sprintf("id: %d\nretry: 1\ndata: %s\n\n", id, told) }
	for name, last := range map[string]string{"gone": "410", "unknown": "400", "no way to resume": "405"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScript(t, "", event(1), event(2)+"CUT", "503", event(3), last)
			rt, box := open(t, s.ServeHTTP, nil)
			if err := rt.(transport.Listener).Listen(t.Context(), legacy, nil); err != nil {
				t.Errorf("Listen: %v, want none: the stream may be opened anew", err)
			}
			close(s.ids)
			var ids []string
			for id := range s.ids {
				ids = append(ids, id)
			}
			if got := strings.Join(ids, ","); got != ",1,2,2,3" || len(box.messages()) != 3 {
				t.Errorf("asked for %q and got %d messages, want %q and 3", got, len(box.messages()), ",1,2,2,3")
			}
		})
	}
}

// TestUnsendableID breaks off streams whose ids cannot be put into a header: there
// is no point in trying.
func TestUnsendableID(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"a\x01b", "\x7f", "\xff", strings.Repeat("x", 5000)} {
		s := newScript(t, "id: "+id+"\nretry: 1\ndata:\n\n", "503", "503")
		rt, _ := open(t, s.ServeHTTP, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		if got := roundTrip(ctx, rt, 1); got != "failed: answer ended without the response" || len(s.ids) > 0 {
			t.Errorf("id %.9q: got %s after %d attempts", id, got, len(s.ids))
		}
		cancel()
	}
}

// TestStandingStreamDoesNotRush has a server that ends its standing stream at once
// each time and wants it back at once.
func TestStandingStreamDoesNotRush(t *testing.T) {
	t.Parallel()
	parts := []string{""}
	for i := range 50 {
		parts = append(parts, fmt.Sprintf("id: %d\nretry: 1\ndata:\n\n", i))
	}
	s := newScript(t, parts...)
	rt, _ := open(t, s.ServeHTTP, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 450*time.Millisecond)
	defer cancel()
	_ = rt.(transport.Listener).Listen(ctx, legacy, func() {})
	if n := len(s.ids); n < 2 || n > 6 {
		t.Errorf("%d connections in less than half a second", n)
	}
}

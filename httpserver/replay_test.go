package httpserver_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/httpserver"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
	"github.com/ferrymcp/ferry/state"
	"github.com/ferrymcp/ferry/state/memory"
)

// resumable are the revisions whose streams can be resumed.
var resumable = []string{r2, r3, r4}

// A puppet is a tool that does what a test tells it.
type puppet struct {
	calls chan *server.Call
	steps chan string // a message to send; "" ends the call
	done  chan struct{}
}

// addPuppet adds the tool "puppet", which sends a message for each step.
func addPuppet(srv *server.Server, name string) *puppet {
	p := &puppet{calls: make(chan *server.Call, 10), steps: make(chan string), done: make(chan struct{}, 10)}
	server.AddTool(srv, mcp.Tool{Name: name}, func(ctx context.Context, c *server.Call, _ struct{}) (string, error) {
		p.calls <- c
		defer func() { p.done <- struct{}{} }()
		for {
			select {
			case step := <-p.steps:
				if step == "" {
					return "finished", nil
				}
				if err := c.Log(ctx, mcp.LevelInfo, "", step); err != nil {
					return "", err
				}
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
		}
	})
	return p
}

func lastID(id string) string { return "Last-Event-ID: " + id + "\n" }

func TestResume(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-REPLAY", "HTTP-REPLAY-SAME-STREAM", "HTTP-EVENT-ID", "HTTP-EVENT-ID-PER-STREAM",
		"HTTP-EVENT-ID-ENCODE-STREAM", "HTTP-DISCONNECT-NOT-CANCEL", "HTTP-SSE-SERVER-MESSAGES")
	for _, revision := range resumable {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			e := start(t, nil)
			p, other := addPuppet(e.srv, "puppet"), addPuppet(e.srv, "other")
			sess := e.session(revision)
			ready := make(chan *stream, 2)
			begin := func(id, tool string, p *puppet, first string) *stream {
				go func() { ready <- e.open("POST", sess, call(id, tool, "{}")) }()
				<-p.calls
				p.steps <- first
				s := <-ready
				s.want(first)
				return s
			}
			s := begin("1", "puppet", p, "one")
			o := begin("2", "other", other, "other one")
			if s.id == "" || s.id == o.id || (revision == r4) != (s.retry == "1000") {
				t.Fatalf("ids %q and %q, retry %q", s.id, o.id, s.retry)
			}
			seen := s.id
			p.steps <- "two"
			s.want("two")
			s.cancel()
			p.steps <- "three"

			// What came after "one", then what comes now.
			s = e.open("GET", sess+lastID(seen), "")
			s.want("two")
			s.want("three")
			p.steps <- "four"
			s.want("four")
			other.steps <- "other two"
			o.want("other two")
			// Resumed again, the stream has one reader: the last.
			again := e.open("GET", sess+lastID(s.id), "")
			s.want("")
			p.steps <- "five"
			again.want("five")
			p.steps <- ""
			again.want(`"id":1,"result"`)
			again.want("")
			// The call is over, and its events are kept.
			s = e.open("GET", sess+lastID(seen), "")
			for _, want := range []string{"two", "three", "four", "five", `"id":1,"result"`, ""} {
				s.want(want)
			}
			s = e.open("GET", sess+lastID(again.id), "")
			s.want("")
			other.steps <- ""
			o.want(`"id":2,"result"`)
			o.want("")
		})
	}
}

func TestResumeStandingStream(t *testing.T) {
	t.Parallel()
	for _, revision := range resumable {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			e := start(t, nil)
			sess := e.session(revision)
			s := e.open("GET", sess, "")
			e.srv.RemoveTools("big")
			s.want("tools/list_changed")
			first := s.id
			e.post(sess, `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://a"}}`)
			e.srv.ResourceUpdated("test://a")
			s.want("resources/updated")
			// The client has lost the second message on the way.
			s2 := e.open("GET", sess+lastID(first), "")
			s.want("")
			s2.want("resources/updated")
			if s2.id != s.id {
				t.Errorf("the same event has the ids %q and %q", s.id, s2.id)
			}
			e.srv.RemoveTools("needy")
			s2.want("tools/list_changed")
			s2.cancel()
			e.srv.RemoveTools("panic")
			s = e.open("GET", sess+lastID(s2.id), "")
			s.want("tools/list_changed")
		})
	}
}

func TestResumeRefused(t *testing.T) {
	t.Parallel()
	log := memory.NewLog(&memory.LogOptions{Events: 3})
	e := start(t, &httpserver.Options{Log: log})
	sess, other := e.session(r4), e.session(r4)
	s := e.open("POST", sess, call("1", "progress", "{}"))
	s.want("progress")
	first := s.id
	for s.line() != "" {
	}
	e.post(sess, call("1", "progress", "{}"))
	foreign := e.open("GET", other, "")
	e.srv.RemoveTools("big")
	foreign.want("tools/list_changed")
	tests := []struct {
		name, id string
		status   int
	}{
		{"evicted", first, 410},
		{"the last of a stream that was evicted", s.id, 410},
		{"of another session", foreign.id, 400},
		{"no id", "7", 400},
		{"another form of an id", s.id[:len(s.id)-1] + "0" + s.id[len(s.id)-1:], 400},
		{"not given yet", s.id[:len(s.id)-1] + "zzz", 410},
	}
	for _, tt := range tests {
		if a := e.do("GET", sess+lastID(tt.id), ""); a.status != tt.status || a.code() != -32600 {
			t.Errorf("%s: got %d %s, want %d", tt.name, a.status, a.body, tt.status)
		}
	}
}

func TestNoReplay(t *testing.T) {
	t.Parallel()
	e := start(t, &httpserver.Options{NoReplay: true})
	for _, revision := range []string{r2, r3, r4, "2024-11-05"} {
		sess := e.session(revision)
		if a := e.post(sess, call("1", "progress", "{}")); strings.Contains(a.body, "id: ") || strings.Count(a.body, "data: {") != 3 {
			t.Errorf("%s: got %q", revision, a.body)
		}
		if a := e.do("GET", sess+lastID("a-0-1"), ""); a.status != 400 {
			t.Errorf("%s: got %d %s", revision, a.status, a.body)
		}
	}
	e = start(t, nil)
	if a := e.post(e.session("2024-11-05"), call("1", "progress", "{}")); strings.Contains(a.body, "id: ") {
		t.Errorf("the first revision has ids: %q", a.body)
	}
}

func TestDisconnect(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-SSE-POLL-CLOSE", "HTTP-SSE-RETRY-SEND", "HTTP-GET-POLL")
	e := start(t, nil)
	p := addPuppet(e.srv, "puppet")
	sess := e.session(r4)
	ready := make(chan *stream)
	go func() { ready <- e.open("POST", sess, call("1", "puppet", "{}")) }()
	c := <-p.calls
	if !c.Disconnect(70 * time.Second) {
		t.Fatal("the connection cannot be let go of")
	}
	s := <-ready
	s.want("")
	if s.id == "" || s.retry != "70000" {
		t.Fatalf("the stream ended with the id %q and retry %q", s.id, s.retry)
	}
	p.steps <- "one"
	s = e.open("GET", sess+lastID(s.id), "")
	s.want("one")
	if !c.Disconnect(0) {
		t.Error("the second connection cannot be let go of")
	}
	s.want("")
	if s.retry != "1000" {
		t.Errorf("retry %q", s.retry)
	}
	p.steps <- ""
	<-p.done
	s = e.open("GET", sess+lastID(s.id), "")
	s.want(`"id":1,"result"`)
	s.want("")
	if c.Disconnect(0) {
		t.Error("the call is over, and has a connection")
	}
	// In the middle of a stream.
	go func() { ready <- e.open("POST", sess, call("2", "puppet", "{}")) }()
	c = <-p.calls
	p.steps <- "one"
	s = <-ready
	s.want("one")
	c.Disconnect(5 * time.Millisecond)
	s.want("")
	if s.retry != "5" {
		t.Errorf("retry %q", s.retry)
	}
	p.steps <- ""
	<-p.done
}

func TestDisconnectIsForPolledStreams(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-SSE-NO-EARLY-CLOSE")
	e := start(t, nil)
	server.AddTool(e.srv, mcp.Tool{Name: "try"}, func(_ context.Context, c *server.Call, _ struct{}) (string, error) {
		return fmt.Sprint(c.Disconnect(0)), nil
	})
	for _, header := range []string{e.session(r2), e.session(r3), e.session(r4) + "Accept: application/json\n", statelessHeader("try")} {
		body := call("1", "try", "{}")
		if strings.Contains(header, modern) {
			body = statelessCall("1", "try", "{}")
		}
		if a := e.post(header, body); !strings.Contains(a.body, `"text":"false"`) {
			t.Errorf("%q: got %d %s", header, a.status, a.body)
		}
	}
}

// A request whose client has gone holds no connection, and is waited for.
func TestCloseCancelsWhatHasNoConnection(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	sess := e.session(r4)
	server.AddTool(e.srv, mcp.Tool{Name: "long"}, func(ctx context.Context, c *server.Call, _ struct{}) (string, error) {
		c.Disconnect(0)
		<-ctx.Done()
		e.ended <- context.Cause(ctx)
		return "", context.Cause(ctx)
	})
	if a := e.post(sess, call("1", "long", "{}")); a.status != 200 || strings.Contains(a.body, "{") {
		t.Errorf("got %d %q", a.status, a.body)
	}
	if err := e.h.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := <-e.ended; err == nil {
		t.Error("the request was not cancelled")
	}
}

// A watched log tells what is called.
type watchedLog struct {
	state.Log
	forgotten chan string
	fail      bool
}

func (l *watchedLog) Append(ctx context.Context, session, stream string, data []byte) (uint64, error) {
	if l.fail {
		return 0, errors.New("no room")
	}
	return l.Log.Append(ctx, session, stream, data)
}

func (l *watchedLog) Forget(ctx context.Context, session string) error {
	l.forgotten <- session
	return l.Log.Forget(ctx, session)
}

func TestLogIsForgottenWithTheSession(t *testing.T) {
	t.Parallel()
	l := &watchedLog{Log: memory.NewLog(nil), forgotten: make(chan string, 10)}
	e := start(t, &httpserver.Options{Log: l})
	sess, unused := e.session(r4), e.session(r4)
	if a := e.post(sess, call("1", "echo", `{"text":"x"}`)); a.status != 200 {
		t.Fatal(a)
	}
	s := e.open("POST", sess, call("1", "progress", "{}"))
	s.want("progress")
	for _, header := range []string{unused, sess} {
		if a := e.do("DELETE", header, ""); a.status != 204 {
			t.Fatal(a)
		}
	}
	if got := <-l.forgotten; !strings.Contains(sess, got) {
		t.Errorf("%s was forgotten, and %s has ended", got, sess)
	}
}

// When the log fails, what can be sent is sent.
func TestLogFails(t *testing.T) {
	t.Parallel()
	e := start(t, &httpserver.Options{Log: &watchedLog{Log: memory.NewLog(nil), forgotten: make(chan string, 10), fail: true}})
	sess := e.session(r4)
	if a := e.post(sess, call("1", "progress", "{}")); strings.Count(a.body, "data: {") != 3 || strings.Contains(a.body, "id: ") {
		t.Errorf("got %q", a.body)
	}
}

// A standing stream that was quiet for longer than events are kept has lost
// nothing.
func TestResumeAfterLongQuiet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv, _ := newServer()
		h := httpserver.New(srv, nil)
		defer h.Close()
		id := initialize(t, h)
		status(t, h, id, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		end, stream := get(t, h, id)
		srv.RemoveTools("big")
		synctest.Wait()
		time.Sleep(time.Hour)
		end()
		got := <-stream
		_, got, _ = strings.Cut(got, "\n\n")
		event, _, _ := strings.Cut(got, "\n")
		end, stream = get(t, h, id+"Last-Event-ID: "+strings.TrimPrefix(event, "id: "))
		srv.RemoveTools("echo")
		synctest.Wait()
		end()
		if got := <-stream; strings.Count(got, "data: {") != 1 || !strings.Contains(got, "tools/list_changed") {
			t.Errorf("after the event %q: %q", event, got)
		}
	})
}

// TestEventIDsAreUnique lets one session have many streams, some with the same
// request id, and looks at all their events.
func TestEventIDsAreUnique(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-EVENT-ID-UNIQUE")
	for _, revision := range resumable {
		e := start(t, nil)
		sess := e.session(revision)
		seen := map[string]bool{}
		see := func(id string) {
			if id == "" || seen[id] {
				t.Errorf("%s: the id %q is empty or came before", revision, id)
			}
			seen[id] = true
		}
		standing := e.open("GET", sess, "")
		for i, tool := range []string{"big", "needy", "panic"} {
			a := e.post(sess, call("1", "progress", "{}"))
			for line := range strings.Lines(a.body) {
				if id, ok := strings.CutPrefix(line, "id: "); ok {
					see(strings.TrimSpace(id))
				}
			}
			e.srv.RemoveTools(tool)
			standing.want("tools/list_changed")
			see(standing.id)
			if want := 4 * (i + 1); len(seen) < want {
				t.Errorf("%s: %d ids after %d events", revision, len(seen), want)
			}
		}
	}
}

// TestStreamsArePrimed looks at how the stream of a request begins: with an event
// without a message, which is something to ask for.
func TestStreamsArePrimed(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-SSE-PRIME")
	e := start(t, nil)
	for _, revision := range resumable {
		sess := e.session(revision)
		first, rest, _ := strings.Cut(e.post(sess, call("1", "progress", "{}")).body, "\n\n")
		if primed := strings.HasSuffix(first, "\nretry: 1000\ndata: "); primed != (revision == r4) {
			t.Errorf("%s: the stream begins with %q", revision, first)
		}
		if revision != r4 {
			continue
		}
		_, id, _ := strings.Cut(first, "id: ")
		id, _, _ = strings.Cut(id, "\n")
		if a := e.do("GET", sess+lastID(id), ""); a.body != rest {
			t.Errorf("after the event %q: %q, want %q", id, a.body, rest)
		}
	}
}

// TestStreamsKeepApart has two calls talk while the lists change: what belongs to
// a call is on its stream, and what belongs to none is on the standing one.
func TestStreamsKeepApart(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-SSE-RELATED-SHOULD", "HTTP-GET-UNRELATED")
	for _, revision := range resumable {
		e := start(t, nil)
		p := []*puppet{addPuppet(e.srv, "puppet1"), addPuppet(e.srv, "puppet2")}
		sess := e.session(revision)
		standing := e.open("GET", sess, "")
		streams := make([]*stream, 2)
		ready := make(chan *stream)
		for i := range p {
			go func() { ready <- e.open("POST", sess, call(fmt.Sprint(i+1), fmt.Sprint("puppet", i+1), "{}")) }()
			<-p[i].calls
			p[i].steps <- fmt.Sprint("first of ", i)
			streams[i] = <-ready
			streams[i].want(fmt.Sprint("first of ", i))
		}
		e.srv.RemoveTools("big")
		for i, s := range streams {
			p[i].steps <- fmt.Sprint("second of ", i)
			s.want(fmt.Sprint("second of ", i))
		}
		e.srv.RemoveResources("test://a")
		for i, s := range streams {
			p[i].steps <- ""
			s.want(fmt.Sprintf(`"id":%d,"result"`, i+1))
			s.want("")
		}
		standing.want("tools/list_changed")
		standing.want("resources/list_changed")
	}
}

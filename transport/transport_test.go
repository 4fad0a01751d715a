package transport_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/transport"
)

// echo answers every request on conn with its own params, until the end.
func echo(conn transport.Conn) {
	for {
		frame, err := conn.Read()
		if err != nil {
			return
		}
		m, err := jsonrpc.Decode(frame)
		if err != nil || m.Kind() != jsonrpc.Request {
			continue
		}
		buf := jsonrpc.GetBuffer()
		result := any(struct{}{})
		if m.Params != nil {
			result = m.Params
		}
		if err := jsonrpc.WriteResult(buf, m.ID, result); err == nil {
			_ = conn.Write(buf.Bytes())
		}
		jsonrpc.PutBuffer(buf)
	}
}

// recorder is a Receiver that keeps what it gets.
type recorder struct { // implements StrayReceiver
	mu       sync.Mutex
	messages []jsonrpc.Message
	strays   []error
}

func (r *recorder) Receive(m jsonrpc.Message, _ jsonrpc.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.messages = append(r.messages, m)
}

func (r *recorder) Stray(_ []byte, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.strays = append(r.strays, err)
}

func request(id int64, params any) *transport.Outgoing {
	return &transport.Outgoing{ID: jsonrpc.IntID(id), Method: "echo", Params: params}
}

func TestDuplexRoundTrip(t *testing.T) {
	t.Parallel()
	carriers := map[string]func() (client, server transport.Conn){
		"in memory": transport.Pipe,
		"lines": func() (client, server transport.Conn) { // their writes leave together
			clientIn, serverOut := io.Pipe()
			serverIn, clientOut := io.Pipe()
			return transport.Lines(clientIn, clientOut, nil), transport.Lines(serverIn, serverOut, nil)
		},
	}
	for name, connect := range carriers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, server := connect()
			var peer, callers sync.WaitGroup
			peer.Go(func() { echo(server) })
			defer peer.Wait()
			rt := transport.Duplex(client, nil)
			defer rt.Close()
			for i := range int64(64) {
				callers.Go(func() {
					for id := i; id < 64*50; id += 64 {
						res, err := rt.RoundTrip(t.Context(), request(id, []int64{id}))
						if got, want := string(res.Result), fmt.Sprintf("[%d]", id); err != nil || got != want {
							t.Errorf("request %d: got %s, %v, want %s", id, got, err, want)
						}
					}
				})
			}
			callers.Wait()
			if err := rt.Err(); err != nil {
				t.Errorf("Err of an open connection: %v", err)
			}
		})
	}
}

func TestDuplexAbandon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, server := transport.Pipe()
		defer server.Close()
		rt := transport.Duplex(client, nil).(interface {
			transport.RoundTripper
			Abandon(id jsonrpc.ID, reason error) bool
		})
		defer rt.Close()
		reason := errors.New("had enough")
		var caller sync.WaitGroup
		caller.Go(func() {
			if _, err := rt.RoundTrip(t.Context(), request(1, nil)); err != reason {
				t.Errorf("RoundTrip: got %v, want %v", err, reason)
			}
		})
		synctest.Wait()
		for i, id := range []int64{2, 1, 1} { // one in flight, and only once
			if got, want := rt.Abandon(jsonrpc.IntID(id), reason), i == 1; got != want {
				t.Errorf("Abandon(%d) = %v, want %v", id, got, want)
			}
		}
		caller.Wait()
	})
}

func TestDuplexCancel(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "CANCEL-LATE-RESPONSE", "CANCEL-RACE")
	synctest.Test(t, func(t *testing.T) {
		client, server := transport.Pipe()
		rec := new(recorder)
		rt := transport.Duplex(client, rec)
		defer rt.Close()
		reason := errors.New("had enough")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, reason)
		defer cancel()
		if _, err := rt.RoundTrip(ctx, request(1, nil)); err != reason {
			t.Errorf("RoundTrip: got %v, want %v", err, reason)
		}
		if _, err := rt.RoundTrip(ctx, request(2, nil)); err != reason {
			t.Errorf("RoundTrip with an ended context: got %v, want %v", err, reason)
		}
		// The late answer is dropped and the id may be used again.
		if err := server.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(rec.strays) != 1 {
			t.Errorf("strays: got %v, want the late answer", rec.strays)
		}
		var wg sync.WaitGroup
		wg.Go(func() { echo(server) })
		if _, err := rt.RoundTrip(t.Context(), request(1, nil)); err != nil {
			t.Errorf("RoundTrip with a used id: %v", err)
		}
		rt.Close()
		wg.Wait()
	})
}

func TestDuplexLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, server := transport.Pipe()
		rt := transport.Duplex(client, nil)
		var wg sync.WaitGroup
		for i := range int64(3) {
			wg.Go(func() {
				_, err := rt.RoundTrip(t.Context(), request(i, nil))
				var closed *transport.ClosedError
				if !errors.As(err, &closed) || !errors.Is(err, io.EOF) || !errors.Is(err, transport.ErrClosed) {
					t.Errorf("request %d in flight: got %v, want a *ClosedError for io.EOF", i, err)
				}
			})
		}
		synctest.Wait()
		if _, err := rt.RoundTrip(t.Context(), request(1, nil)); err == nil {
			t.Error("an id in flight was accepted again")
		}
		server.Close()
		wg.Wait()
		<-rt.Done()
		if _, err := rt.RoundTrip(t.Context(), request(9, nil)); !errors.Is(err, io.EOF) {
			t.Errorf("RoundTrip on a lost connection: got %v", err)
		}
		if err := rt.Send(t.Context(), &transport.Outgoing{Method: "n"}); !errors.Is(err, io.EOF) {
			t.Errorf("Send on a lost connection: got %v", err)
		}
		for range 2 {
			if err := rt.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		}
	})
}

func TestDuplexReceive(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "BASE-BATCH-RECEIVE", "STDIO-LINE-BATCH")
	synctest.Test(t, func(t *testing.T) {
		client, server := transport.Pipe()
		rec := new(recorder)
		rt := transport.Duplex(client, rec)
		for _, frame := range []string{
			`{"jsonrpc":"2.0","method":"a"}`,
			`[{"jsonrpc":"2.0","method":"b"},{"jsonrpc":"2.0","id":"x","method":"c"}]`,
			`listening on port 80`,
			`[]`,
			`{"jsonrpc":"2.0","id":"nobody","result":{}}`,
			`{"jsonrpc":"2.0","method":"d"}`,
		} {
			if err := server.Write([]byte(frame)); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		got := ""
		for _, m := range rec.messages {
			got += m.Method
		}
		if got != "abcd" {
			t.Errorf("received %q, want abcd", got)
		}
		if len(rec.strays) != 3 {
			t.Errorf("strays: got %q, want 3", rec.strays)
		}
		rt.Close()
		if err := rt.Err(); err != transport.ErrClosed {
			t.Errorf("Err after Close: %v", err)
		}
	})
}

func TestDuplexMalformedResponse(t *testing.T) {
	t.Parallel()
	client, server := transport.Pipe()
	rt := transport.Duplex(client, nil)
	defer rt.Close()
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		_, _ = server.Read()
		_ = server.Write([]byte(`{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1,"message":"x"}}`))
	})
	_, err := rt.RoundTrip(t.Context(), request(7, nil))
	if err == nil || !strings.Contains(err.Error(), "both a result and an error") {
		t.Errorf("got %v, want the reason why the response is malformed", err)
	}
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		t.Errorf("got %v as an error of the server, which it is not", e)
	}
}

func TestDuplexSend(t *testing.T) {
	t.Parallel()
	client, server := transport.Pipe()
	rt := transport.Duplex(client, nil)
	defer rt.Close()
	tests := []struct {
		out  transport.Outgoing
		want string // "" for a refusal
	}{
		{transport.Outgoing{Method: "n"}, `{"jsonrpc":"2.0","method":"n"}`},
		{transport.Outgoing{ID: jsonrpc.IntID(1), Result: struct{}{}}, `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{transport.Outgoing{ID: jsonrpc.IntID(1), Error: jsonrpc.Errorf(-1, "no")}, `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}`},
		{transport.Outgoing{ID: jsonrpc.IntID(1), Method: "r"}, ""},
		{transport.Outgoing{}, ""},
		{transport.Outgoing{Method: "n", Params: make(chan int)}, ""},
	}
	for _, tt := range tests {
		err := rt.Send(t.Context(), &tt.out)
		if (err != nil) != (tt.want == "") {
			t.Errorf("Send(%+v): %v", tt.out, err)
		}
		if tt.want == "" {
			continue
		}
		if got, err := server.Read(); err != nil || string(got) != tt.want {
			t.Errorf("Send(%+v): got %s, %v, want %s", tt.out, got, err, tt.want)
		}
	}
	for _, out := range []transport.Outgoing{{Method: "x"}, {ID: jsonrpc.IntID(1)}, {ID: jsonrpc.IntID(1), Method: "x", Params: make(chan int)}} {
		if _, err := rt.RoundTrip(t.Context(), &out); err == nil {
			t.Errorf("RoundTrip(%+v) was accepted", out)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := rt.Send(ctx, &transport.Outgoing{Method: "n"}); err != context.Canceled {
		t.Errorf("Send with an ended context: %v", err)
	}
}

// stuck is a Conn whose Read does not end.
type stuck struct {
	transport.Conn
	release chan struct{}
}

func (s stuck) Read() ([]byte, error) { <-s.release; return nil, io.EOF }

func TestDuplexCloseIsBounded(t *testing.T) {
	t.Parallel()
	client, _ := transport.Pipe()
	release := make(chan struct{})
	defer close(release)
	rt := transport.Duplex(stuck{client, release}, nil)
	if err := rt.Close(); err == nil {
		t.Error("Close says nothing of a reader that goes on")
	}
}

package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
)

// rounds serves a stateless server that answers each call with the next of the
// results, and notes what the calls said.
func rounds(notes *[]string, results ...string) func(*peer) {
	ids := map[string]bool{}
	return answering(r5, func(p *peer, m jsonrpc.Message) {
		if m.Kind() != jsonrpc.Request {
			return
		}
		if ids[m.ID.String()] {
			p.t.Errorf("id %s is used again", m.ID)
		}
		ids[m.ID.String()] = true
		var params map[string]json.RawMessage
		if err := json.Unmarshal(m.Params, &params); err != nil {
			p.t.Error(err)
		}
		if !strings.Contains(string(params["_meta"]), mcp.MetaClientCapabilities) {
			p.t.Errorf("a call without metadata: %s", m.Params)
		}
		*notes = append(*notes, fmt.Sprintf("%s %s %s", params["arguments"], params["inputResponses"], params["requestState"]))
		p.result(m, results[min(len(*notes), len(results))-1])
	})
}

const (
	askRoots = `"inputRequests":{"r":{"method":"roots/list"}},"resultType":"input_required"`
	roots    = `{"r":{"roots":[{"uri":"file:///a","name":"A"}]}}`
	done     = `{"resultType":"complete","content":[]}`
)

func TestRounds(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "MRTR-STATE-ECHO", "MRTR-STATE-ABSENT", "MRTR-STATE-OPAQUE", "MRTR-NEW-ID", "MRTR-CLIENT-FULFIL",
		"MRTR-CLIENT-RESPONSES", "MRTR-CLIENT-IMMEDIATE")
	tests := []struct {
		name    string
		results []string
		want    []string
	}{
		{"MRTR-STATE-ECHO", []string{`{` + askRoots + `,"requestState":"\u0061\/ é\n"}`, done}, []string{`{}  `, `{} ` + roots + ` "\u0061\/ é\n"`}},
		{"MRTR-STATE-ABSENT", []string{`{` + askRoots + `}`, done}, []string{`{}  `, `{} ` + roots + ` `}},
		{"empty state", []string{`{` + askRoots + `,"requestState":""}`, done}, []string{`{}  `, `{} ` + roots + ` ""`}},
		{"none left over", []string{`{` + askRoots + `,"requestState":"1"}`, `{` + askRoots + `}`, done}, []string{`{}  `, `{} ` + roots + ` "1"`, `{} ` + roots + ` `}},
		{"MRTR-CLIENT-IMMEDIATE", []string{`{"resultType":"input_required","requestState":"1"}`, `{"resultType":"input_required","requestState":"2"}`, done}, []string{`{}  `, `{}  "1"`, `{}  "2"`}},
		{
			"MRTR-CLIENT-RESPONSES",
			[]string{`{"inputRequests":{"b":{"method":"elicitation/create","params":{"message":"m",` + form + `}},"a":{"method":"roots/list","params":{}},` +
				`"":{"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]}}},"resultType":"input_required"}`, done},
			[]string{`{}  `, `{} {"":` + said + `,"a":{"roots":[{"uri":"file:///a","name":"A"}]},"b":` + filledIn + `} `},
		},
		{"no resultType", []string{`{"content":[],"inputRequests":{},"requestState":"input_required"}`}, []string{`{}  `}},
	}
	for _, test := range tests {
		bubble(t, test.name, func(t *testing.T) {
			var notes []string
			sess := connect(t, fake(t, rounds(&notes, test.results...)), able())
			_, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "a", Arguments: json.RawMessage(`{}`)}, nil)
			if err != nil {
				t.Errorf("got %v", err)
			}
			if d := cmp.Diff(test.want, notes); d != "" {
				t.Errorf("calls (-want +got):\n%s", d)
			}
		})
	}
}

func TestRoundsOfOtherCalls(t *testing.T) {
	t.Parallel()
	calls := map[string]func(*testing.T, *client.Session) error{
		"prompt": func(t *testing.T, sess *client.Session) error {
			_, err := sess.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "p"}, nil)
			return err
		},
		"resource": func(t *testing.T, sess *client.Session) error {
			_, err := sess.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "x:1"}, nil)
			return err
		},
		"raw": func(t *testing.T, sess *client.Session) error {
			raw, err := sess.Call(t.Context(), mcp.MethodToolsCall, json.RawMessage(`{"name":"a","requestState":"old"}`), nil)
			if !strings.Contains(string(raw), "complete") {
				t.Errorf("got %s", raw)
			}
			return err
		},
	}
	for name, call := range calls {
		bubble(t, name, func(t *testing.T) {
			var notes []string
			sess := connect(t, fake(t, rounds(&notes, `{`+askRoots+`}`, `{"resultType":"complete","content":[],"messages":[],"contents":[]}`)), able())
			if err := call(t, sess); err != nil || len(notes) != 2 || notes[1] != " "+roots+" " {
				t.Errorf("got %v after %q", err, notes)
			}
		})
	}
}

// TestRoundsEnd looks at calls that do not get what they are for.
func TestRoundsEnd(t *testing.T) {
	t.Parallel()
	again := `{` + askRoots + `,"requestState":"s"}`
	raw := func(t *testing.T, sess *client.Session, opts *client.CallOptions) error {
		_, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "a"}, opts)
		return err
	}
	bubble(t, "too many", func(t *testing.T) {
		var notes []string
		err := raw(t, connect(t, fake(t, rounds(&notes, again)), able()), nil)
		if e, ok := errors.AsType[*client.InputError](err); !ok || e.Key != "" || len(notes) != 11 {
			t.Errorf("got %v after %d calls", err, len(notes))
		}
		opts := able()
		opts.MaxRounds = 1
		notes = nil
		err = raw(t, connect(t, fake(t, rounds(&notes, again)), opts), nil)
		if _, ok := errors.AsType[*client.InputError](err); !ok || len(notes) != 2 {
			t.Errorf("got %v after %d calls", err, len(notes))
		}
	})
	bubble(t, "relay", func(t *testing.T) {
		var notes []string
		sess := connect(t, fake(t, rounds(&notes, again)), able())
		err := raw(t, sess, &client.CallOptions{Relay: true})
		if e, ok := errors.AsType[*client.InputRequiredError](err); !ok || *e.Result.RequestState != "s" || len(notes) != 1 {
			t.Errorf("got %v after %d calls", err, len(notes))
		}
		got, err := sess.Call(t.Context(), mcp.MethodToolsCall, nil, &client.CallOptions{Relay: true})
		if string(got) != again || err != nil {
			t.Errorf("got %s, %v", got, err)
		}
	})
	bubble(t, "time", func(t *testing.T) {
		opts := able()
		opts.OnRoots = func(ctx context.Context) ([]mcp.Root, error) {
			<-time.After(40 * time.Second)
			return nil, ctx.Err()
		}
		opts.Timeout, opts.MaxTimeout = 30*time.Second, time.Minute
		var notes []string
		err := raw(t, connect(t, fake(t, rounds(&notes, again)), opts), nil)
		if e, ok := errors.AsType[*client.TimeoutError](err); !ok || !e.Max || e.Limit != time.Minute || len(notes) != 2 {
			t.Errorf("got %v after %d calls", err, len(notes))
		}
		<-time.After(time.Minute)
	})
	bubble(t, "cancelled", func(t *testing.T) {
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		asked := make(chan struct{})
		opts := able()
		var handler error
		opts.OnRoots = func(ctx context.Context) ([]mcp.Root, error) {
			close(asked)
			<-ctx.Done()
			handler = context.Cause(ctx)
			return nil, ctx.Err()
		}
		var notes []string
		sess := connect(t, fake(t, rounds(&notes, again)), opts)
		var wg sync.WaitGroup
		wg.Go(func() {
			<-asked
			cancel(why)
		})
		_, err := sess.CallTool(ctx, &mcp.CallToolParams{Name: "a"}, nil)
		wg.Wait()
		synctest.Wait()
		if !errors.Is(err, why) || !errors.Is(handler, why) {
			t.Errorf("got %v, the handler %v", err, handler)
		}
	})
	bubble(t, "closed", func(t *testing.T) {
		opts := able()
		asked := make(chan struct{})
		opts.OnRoots = func(ctx context.Context) ([]mcp.Root, error) {
			close(asked)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		var notes []string
		sess := connect(t, fake(t, rounds(&notes, again)), opts)
		var wg sync.WaitGroup
		wg.Go(func() {
			<-asked
			_ = sess.Close()
		})
		err := raw(t, sess, nil)
		wg.Wait()
		if !errors.Is(err, client.ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
	bubble(t, "malformed", func(t *testing.T) {
		for _, result := range []string{`{"resultType":"input_required"}`, `{"resultType":"input_required","requestState":5}`} {
			var notes []string
			err := raw(t, connect(t, fake(t, rounds(&notes, result)), able()), nil)
			if _, ok := errors.AsType[*client.ProtocolError](err); !ok {
				t.Errorf("%s: got %v", result, err)
			}
		}
	})
}

// TestParallelRounds makes calls that are asked at the same time: nothing of one
// shows in another (MRTR-NO-CROSS-USE).
func TestParallelRounds(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "MRTR-NO-CROSS-USE")
	opts := able()
	opts.OnElicit = func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		content, err := json.Marshal(map[string]string{"who": p.Message})
		return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: content}, err
	}
	sess := connect(t, fake(t, answering(r5, func(p *peer, m jsonrpc.Message) {
		var params struct {
			Name           string
			RequestState   string
			InputResponses mcp.InputResponses
		}
		if err := json.Unmarshal(m.Params, &params); err != nil {
			p.t.Error(err)
		}
		if params.RequestState == "" {
			p.result(m, fmt.Sprintf(`{"resultType":"input_required","requestState":"state of %s","inputRequests":{"k":{"method":"elicitation/create",`+
				`"params":{"message":%q,"requestedSchema":{"type":"object","properties":{"who":{"type":"string"}}}}}}}`, params.Name, params.Name))
			return
		}
		want := fmt.Sprintf(`{"action":"accept","content":{"who":%q}}`, params.Name)
		if got := string(params.InputResponses["k"]); params.RequestState != "state of "+params.Name || got != want {
			p.t.Errorf("%s came with state %q, answer %s", params.Name, params.RequestState, got)
		}
		p.result(m, done)
	})), opts)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if _, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: fmt.Sprint("n", i)}, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

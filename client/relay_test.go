package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// relaying are options of a program that passes questions on to others.
func relaying(revision string) *client.Options {
	return &client.Options{Revision: revision, Capabilities: mcp.ClientCapabilities{
		Elicitation: &mcp.ElicitationCapability{Form: &mcp.Support{}}, Sampling: &mcp.SamplingCapability{},
	}}
}

// asking serves a session and asks with each call; the result is the answer.
func asking(revision, method, params string, calls int) func(*peer) {
	return func(p *peer) {
		p.open(revision)
		var open []jsonrpc.Message
		for range calls {
			open = append(open, p.want(mcp.MethodToolsCall))
		}
		for i, m := range open {
			p.write(`{"jsonrpc":"2.0","id":"q%d","method":%q,"params":%s}`, i, method, params)
			answer, _ := p.next()
			said := string(answer.Result)
			if answer.Error != nil {
				said = answer.Error.Error()
			}
			text, err := json.Marshal(said)
			if err != nil {
				p.t.Error(err)
			}
			p.result(m, fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, text))
		}
		p.idle()
	}
}

func TestAnswerOfACall(t *testing.T) {
	t.Parallel()
	const sample = `{"maxTokens":1,"messages":[]}`
	two := json.RawMessage(`{"role":"assistant","model":"m","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`)
	tests := []struct {
		name, revision, method, params string
		result                         any
		want                           string
	}{
		{"typed", r4, mcp.MethodElicitationCreate, `{"message":"m"}`, &mcp.ElicitResult{Action: mcp.ElicitDecline}, `{"action":"decline"}`},
		{"raw", r4, mcp.MethodSamplingCreateMessage, sample, two, `{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"model":"m"}`},
		{"raw, for an older server", r1, mcp.MethodSamplingCreateMessage, sample, two, `{"role":"assistant","content":{"type":"text","text":"a\nb"},"model":"m"}`},
		{"error", r4, mcp.MethodSamplingCreateMessage, sample, jsonrpc.Errorf(-1, "no"), `no (-1)`},
		{"not declared", r4, mcp.MethodRootsList, `{}`, nil, `method "roots/list" is not supported (-32601)`},
		{"not in the revision", r1, mcp.MethodElicitationCreate, `{"message":"m"}`, nil, `method "elicitation/create" is not supported (-32601)`},
	}
	for _, test := range tests {
		bubble(t, test.name, func(t *testing.T) {
			sess := connect(t, fake(t, asking(test.revision, test.method, test.params, 1)), relaying(test.revision))
			opts := &client.CallOptions{Answer: func(_ context.Context, q mcp.InputRequest) (any, error) {
				if err, ok := test.result.(error); ok {
					return nil, err
				}
				if q.Method != test.method {
					t.Errorf("asked for %s", q.Method)
				}
				return test.result, nil
			}}
			r, err := sess.CallTool(t.Context(), &noPause, opts)
			if err != nil || r.Content[0].Text != test.want {
				t.Errorf("got %+v, %v, want %s", r, err, test.want)
			}
		})
	}
	bubble(t, "stateless", func(t *testing.T) {
		var notes []string
		opts := relaying(r5)
		opts.Capabilities.Roots = &mcp.RootsCapability{}
		sess := connect(t, fake(t, rounds(&notes, `{`+askRoots+`}`, done)), opts)
		_, err := sess.CallTool(t.Context(), &noPause, &client.CallOptions{Answer: func(context.Context, mcp.InputRequest) (any, error) {
			return json.RawMessage(`{"roots":[]}`), nil
		}})
		if err != nil || !strings.HasSuffix(notes[1], `{"r":{"roots":[]}} `) {
			t.Errorf("got %v after %q", err, notes)
		}
	})
}

// TestAmbiguousQuestions asks while several calls are in flight: the answer of
// one caller must not be given for another.
func TestAmbiguousQuestions(t *testing.T) {
	t.Parallel()
	bubble(t, "session", func(t *testing.T) {
		sess := connect(t, fake(t, asking(r4, mcp.MethodElicitationCreate, `{"message":"m"}`, 2)), relaying(r4))
		answer := func(context.Context, mcp.InputRequest) (any, error) {
			return &mcp.ElicitResult{Action: mcp.ElicitDecline}, nil
		}
		var wg sync.WaitGroup
		texts := make([]string, 2)
		for i, opts := range []*client.CallOptions{{Answer: answer}, nil} {
			wg.Go(func() {
				r, err := sess.CallTool(t.Context(), &noPause, opts)
				if err != nil {
					t.Error(err)
					return
				}
				texts[i] = r.Content[0].Text
			})
		}
		wg.Wait()
		all := strings.Join(texts, "; ")
		if !strings.Contains(all, "which of several calls") {
			t.Errorf("got %s, want the first refused", all)
		}
	})
	bubble(t, "unrelated to calls", func(t *testing.T) {
		asked := 0
		sess := connect(t, fake(t, asking(r4, mcp.MethodElicitationCreate, `{"message":"m"}`, 1)), func() *client.Options {
			o := relaying(r4)
			o.OnElicit = func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				asked++
				return nil, errors.New("no")
			}
			return o
		}())
		if _, err := sess.CallTool(t.Context(), &noPause, nil); err != nil || asked != 1 {
			t.Errorf("got %v, the handler was asked %d times", err, asked)
		}
	})
}

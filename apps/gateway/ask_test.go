package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/apps/gateway"
	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/host"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

type person struct {
	Name string `json:"name"`
}

// asker is a server that asks its clients.
func asker(calls *atomic.Int32) *server.Server {
	srv := server.New(info, nil)
	server.AddTool(srv, mcp.Tool{Name: "greet"}, func(ctx context.Context, c *server.Call, in struct {
		Title string `json:"title"`
	},
	) (string, error) {
		calls.Add(1)
		first, err := server.Elicit[person](ctx, c, "first", "first name?")
		if err != nil || !first.Accepted() {
			return "nobody", err
		}
		last, err := server.Elicit[person](ctx, c, "last", "last name?")
		if err != nil || !last.Accepted() {
			return "nobody", err
		}
		said, err := server.Sample(ctx, c, "says", &mcp.CreateMessageParams{
			MaxTokens: 5, Messages: []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.SamplingContent{mcp.Text("say hi")}}},
		})
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s: %s %s %s", said.Content[0].Text, in.Title, first.Value.Name, last.Value.Name), nil
	})
	srv.AddPrompt(mcp.Prompt{Name: "greeting"}, func(ctx context.Context, c *server.Call, _ map[string]string) (*mcp.GetPromptResult, error) {
		who, err := server.Elicit[person](ctx, c, "who", "first name?")
		return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.Text(who.Value.Name)}}}, err
	})
	return srv
}

// answering are options of a client that answers for somebody.
func answering(revision, name string) *client.Options {
	return &client.Options{
		Revision: revision,
		OnElicit: func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			content, err := json.Marshal(person{Name: p.Message[:1] + name})
			return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: content}, err
		},
		OnSample: func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Model: "m", Content: mcp.SamplingContent{mcp.Text("hi")}}, nil
		},
	}
}

// openAsking opens a gateway that is asked by its servers.
func openAsking(t *testing.T, sessions bool, calls *atomic.Int32) *gateway.Gateway {
	t.Helper()
	return openFor(t, asker(calls), sessions)
}

func openFor(t *testing.T, up *server.Server, sessions bool) *gateway.Gateway {
	t.Helper()
	yes := &mcp.Support{}
	h := host.New(info, &host.Options{Capabilities: mcp.ClientCapabilities{
		Elicitation: &mcp.ElicitationCapability{Form: yes, URL: yes}, Sampling: &mcp.SamplingCapability{},
	}})
	if err := h.Add(host.Upstream{Name: "up", Transport: serve(t, up, sessions)}); err != nil {
		t.Fatal(err)
	}
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	g := gateway.New(h, nil)
	t.Cleanup(func() {
		if err := errors.Join(g.Close(), h.Close()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return g
}

// TestAsking asks callers of both kinds for servers of both kinds.
func TestAsking(t *testing.T) {
	t.Parallel()
	for _, sessions := range []bool{true, false} {
		for _, revision := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
			t.Run(fmt.Sprintf("sessions %v/%s", sessions, revision), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					var calls atomic.Int32
					g := openAsking(t, sessions, &calls)
					sess := connect(t, g, answering(revision, "Ann"))
					for range 2 {
						calls.Store(0)
						r, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "up_greet", Arguments: json.RawMessage(`{"title":"Dr"}`)}, nil)
						if err != nil || len(r.Content) != 1 || r.Content[0].Text != "hi: Dr fAnn lAnn" {
							t.Errorf("got %+v, %v", r, err)
						}
						if sessions && calls.Load() != 1 {
							t.Errorf("the tool ran %d times", calls.Load())
						}
					}
					p, err := sess.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "up_greeting"}, nil)
					if err != nil || p.Messages[0].Content.Text != "fAnn" {
						t.Errorf("got %+v, %v", p, err)
					}
				})
			})
		}
	}
}

// TestAskingEnds looks at calls that are asked something nobody answers.
func TestAskingEnds(t *testing.T) {
	t.Parallel()
	greet := &mcp.CallToolParams{Name: "up_greet", Arguments: json.RawMessage(`{"title":"Dr"}`)}
	for _, sessions := range []bool{true, false} {
		for _, revision := range []string{"2025-11-25", "2026-07-28"} {
			run := func(name string, test func(t *testing.T, g *gateway.Gateway)) {
				t.Run(fmt.Sprintf("%s/sessions %v/%s", name, sessions, revision), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						var calls atomic.Int32
						test(t, openAsking(t, sessions, &calls))
					})
				})
			}
			run("cannot", func(t *testing.T, g *gateway.Gateway) {
				r, err := connect(t, g, &client.Options{Revision: revision}).CallTool(t.Context(), greet, nil)
				if err == nil && !r.IsError {
					t.Errorf("got %+v", r)
				}
			})
			run("declines", func(t *testing.T, g *gateway.Gateway) {
				opts := answering(revision, "")
				opts.OnElicit = func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
					return &mcp.ElicitResult{Action: mcp.ElicitDecline}, nil
				}
				r, err := connect(t, g, opts).CallTool(t.Context(), greet, nil)
				if err != nil || r.Content[0].Text != "nobody" {
					t.Errorf("got %+v, %v", r, err)
				}
			})
			run("goes", func(t *testing.T, g *gateway.Gateway) {
				opts := answering(revision, "")
				ctx, cancel := context.WithCancel(t.Context())
				opts.OnElicit = func(ctx context.Context, _ *mcp.ElicitParams) (*mcp.ElicitResult, error) {
					cancel()
					<-ctx.Done()
					return nil, ctx.Err()
				}
				if _, err := connect(t, g, opts).CallTool(ctx, greet, nil); !errors.Is(err, context.Canceled) {
					t.Errorf("got %v", err)
				}
			})
		}
	}
}

// TestVisits sends users to web pages, and tells them, and nobody else, when they
// are done there.
func TestVisits(t *testing.T) {
	t.Parallel()
	for _, required := range []bool{true, false} {
		t.Run(fmt.Sprintf("required %v", required), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				up := server.New(info, nil)
				visited := make(chan *server.Session, 1)
				paid := false
				up.AddRawTool(mcp.Tool{Name: "pay"}, func(ctx context.Context, c *server.Call) (any, error) {
					page := mcp.ElicitParams{Mode: mcp.ElicitURL, Message: "Pay.", URL: "https://pay.example/1", ElicitationID: "p1"}
					if !paid && required {
						visited <- c.Session()
						return nil, &mcp.URLElicitationRequiredError{Elicitations: []mcp.ElicitParams{page}}
					}
					if !paid {
						if _, err := server.ElicitURL(ctx, c, "page", &page); err != nil {
							return nil, err
						}
						visited <- c.Session()
					}
					return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text("paid")}}, nil
				})
				g := openFor(t, up, true)
				var told [2][]string
				options := func(i int) *client.Options {
					opts := answering("2025-11-25", "")
					opts.Capabilities.Elicitation = &mcp.ElicitationCapability{URL: &mcp.Support{}}
					opts.OnNotification = func(method string, params json.RawMessage) {
						if method == mcp.NotificationElicitationComplete {
							told[i] = append(told[i], string(params))
						}
					}
					opts.OnElicit = func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
						if required {
							paid = true
							_ = (<-visited).ElicitationComplete("p1")
						}
						return &mcp.ElicitResult{Action: mcp.ElicitAccept}, nil
					}
					return opts
				}
				sess := connect(t, g, options(0))
				connect(t, g, options(1))
				r, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "up_pay"}, nil)
				if err != nil || r.Content[0].Text != "paid" {
					t.Errorf("got %+v, %v", r, err)
				}
				if !required {
					_ = (<-visited).ElicitationComplete("p1")
				}
				synctest.Wait()
				if len(told[0]) != 1 || len(told[1]) != 0 {
					t.Errorf("told %q, want the first client once", told)
				}
			})
		})
	}
}

// TestAskingSeveral has callers whose calls are in flight at the same time at one
// server: nobody is asked for another.
func TestAskingSeveral(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		g := openAsking(t, false, &calls)
		var wg sync.WaitGroup
		for i, revision := range []string{"2025-11-25", "2026-07-28", "2025-06-18", "2026-07-28"} {
			name := fmt.Sprint("n", i)
			sess := connect(t, g, answering(revision, name))
			wg.Go(func() {
				r, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "up_greet", Arguments: json.RawMessage(`{"title":"Dr"}`)}, nil)
				if want := fmt.Sprintf("hi: Dr f%s l%s", name, name); err != nil || r.Content[0].Text != want {
					t.Errorf("got %+v, %v, want %s", r, err, want)
				}
			})
		}
		wg.Wait()
	})
}

// TestRefusedQuestionsAreNotKept wants calls that are over to make room.
func TestRefusedQuestionsAreNotKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		g := openAsking(t, true, &calls)
		greet := &mcp.CallToolParams{Name: "up_greet", Arguments: json.RawMessage(`{"title":"Dr"}`)}
		opts := answering("2025-11-25", "Ann")
		opts.OnElicit = func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return nil, errors.New("not now")
		}
		rude := connect(t, g, opts)
		for range 1100 { // more than can wait for an answer
			if r, err := rude.CallTool(t.Context(), greet, nil); err == nil && !r.IsError {
				t.Fatalf("got %+v", r)
			}
		}
		<-time.After(time.Minute) // until the server must have noticed: before, its questions may be about calls that are over
		r, err := connect(t, g, answering("2025-11-25", "Ann")).CallTool(t.Context(), greet, nil)
		if err != nil || r.Content[0].Text != "hi: Dr fAnn lAnn" {
			t.Errorf("got %+v, %v", r, err)
		}
	})
}

package client_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/transport"
)

// TestProbeDuplex connects to servers over stdio-like carriers.
func TestProbeDuplex(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "STDIO-PROBE", "STDIO-PROBE-LEGACY", "STDIO-PROBE-NO-CODE-KEY", "STDIO-PROBE-RESULT",
		"STDIO-PROBE-MODERN-ERROR", "LIFE-INITIALIZED", "LIFE-INIT-ERROR-EXAMPLE", "VER-CLIENT-OFFER-LATEST",
		"VER-CLIENT-OFFER-SUPPORTED", "VER-UNSUPPORTED-RETRY", "DISC-CHOOSE-VERSION")
	probe := func(reply func(p *peer, m jsonrpc.Message), rest func(*peer)) func(*peer) {
		return func(p *peer) {
			m := p.want(mcp.MethodServerDiscover)
			reply(p, m)
			rest(p)
		}
	}
	failing := func(code int, data string) func(*peer, jsonrpc.Message) {
		return func(p *peer, m jsonrpc.Message) { p.fail(m, code, data) }
	}
	legacy := func(version string) func(*peer) {
		return func(p *peer) { p.initialize(version); p.idle() }
	}
	mute := func(*peer, jsonrpc.Message) {}
	exit := func(p *peer) { p.want(mcp.MethodServerDiscover) }
	offered := func(offer string) func(*peer) {
		return func(p *peer) {
			m := p.want(mcp.MethodInitialize)
			if got, want := string(m.Params), `"protocolVersion":"`+offer+`"`; !strings.Contains(got, want) {
				p.t.Errorf("offer %s, want %s in it", got, want)
			}
			p.result(m, greeting(offer))
			p.want(mcp.NotificationInitialized)
			p.idle()
		}
	}
	tests := []struct {
		name     string
		scripts  []func(*peer)
		revision string
		opens    int
	}{
		{"stateless", []func(*peer){probe(func(p *peer, m jsonrpc.Message) { p.result(m, discovery(r5, r4)) }, (*peer).idle)}, r5, 1},
		{"method not found", []func(*peer){probe(failing(-32601, ""), legacy(r4))}, r4, 1},
		{"invalid params", []func(*peer){probe(failing(-32602, ""), legacy(r3))}, r3, 1},
		{"any other code", []func(*peer){probe(failing(-32000, ""), legacy(r2))}, r2, 1},
		{"server chooses the oldest", []func(*peer){probe(failing(-32601, ""), legacy(r1))}, r1, 1},
		{"some other result", []func(*peer){probe(func(p *peer, m jsonrpc.Message) { p.result(m, `{}`) }, legacy(r4))}, r4, 1},
		{"discovery of only older revisions", []func(*peer){probe(func(p *peer, m jsonrpc.Message) { p.result(m, discovery(r2, r3)) }, offered(r3))}, r3, 1},
		{"unsupported version, older ones mutual", []func(*peer){probe(failing(-32022, `{"supported":["2025-03-26","1999-01-01"],"requested":"x"}`), offered(r2))}, r2, 1},
		{"unreadable answer", []func(*peer){probe(func(p *peer, m jsonrpc.Message) { p.write(`{"jsonrpc":"2.0","id":%s,"result":1,"error":{}}`, m.ID) }, legacy(r4))}, r4, 1},
		{"garbage, then silence", []func(*peer){probe(func(p *peer, _ jsonrpc.Message) { p.write(`Welcome!`) }, legacy(r4))}, r4, 1},
		{"silence", []func(*peer){probe(mute, legacy(r4))}, r4, 1},
		{"exit", []func(*peer){exit, offered(r4)}, r4, 2},
		{"late answer", []func(*peer){func(p *peer) {
			late := p.want(mcp.MethodServerDiscover)
			m := p.want(mcp.MethodInitialize)
			p.result(late, discovery(r5))
			p.result(m, greeting(r4))
			p.want(mcp.NotificationInitialized)
			p.idle()
		}}, r4, 1},
		{"slow stateless server", []func(*peer){func(p *peer) {
			p.want(mcp.MethodServerDiscover)
			p.fail(p.want(mcp.MethodInitialize), -32601, "")
			p.result(p.want(mcp.MethodServerDiscover), discovery(r5))
			p.idle()
		}}, r5, 1},
		{"initialize refused with other versions", []func(*peer){func(p *peer) {
			p.fail(p.want(mcp.MethodServerDiscover), -32601, "")
			p.fail(p.want(mcp.MethodInitialize), -32602, `{"supported":["2024-11-05"],"requested":"2025-11-25"}`)
			offered(r1)(p)
		}}, r1, 1},
	}
	for _, test := range tests {
		bubble(t, test.name, func(t *testing.T) {
			via := fake(t, test.scripts...)
			sess := connect(t, via, nil)
			if sess.Revision() != test.revision || via.opens() != test.opens {
				t.Errorf("revision %s after %d connections, want %s after %d", sess.Revision(), via.opens(), test.revision, test.opens)
			}
			version := map[bool]string{true: "5", false: "4"}[test.revision == r5]
			want := mcp.Implementation{Name: "fake", Version: version}
			if got := sess.ServerInfo(); !cmp.Equal(got, want) {
				t.Errorf("server info %+v, want %+v", got, want)
			}
			if sess.Instructions() != "be kind" || sess.ServerCapabilities().Tools == nil {
				t.Errorf("instructions %q, capabilities %+v", sess.Instructions(), sess.ServerCapabilities())
			}
		})
	}
}

func TestRefusedOnce(t *testing.T) {
	t.Parallel()
	bubble(t, "then taken", func(t *testing.T) {
		sess := connect(t, fake(t, func(p *peer) {
			p.fail(p.want(mcp.MethodServerDiscover), -32022, `{"supported":["2026-07-28"]}`)
			p.open(r5)
			p.idle()
		}), nil)
		if sess.Revision() != r5 {
			t.Errorf("got %s", sess.Revision())
		}
	})
}

func TestConnectFails(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "VER-CLIENT-DISCONNECT", "VER-MODERN-CLIENT-PROBE", "VER-ERA-MODERN-ERROR", "STDIO-PROBE-MODERN-ERROR",
		"VER-UNSUPPORTED-RETRY", "LIFE-ERR-CASES", "LIFE-ERR-CASES-2024")
	answer := func(steps ...func(*peer)) func(*peer) {
		return func(p *peer) {
			for _, step := range steps {
				step(p)
			}
			p.idle()
		}
	}
	discover := func(code int, data string) func(*peer) {
		return func(p *peer) { p.fail(p.want(mcp.MethodServerDiscover), code, data) }
	}
	initialize := func(result string) func(*peer) {
		return func(p *peer) { p.result(p.want(mcp.MethodInitialize), result) }
	}
	silent := func(p *peer) { p.idle() }
	version := func(err error) bool { _, ok := errors.AsType[*client.VersionError](err); return ok }
	protocol := func(err error) bool { _, ok := errors.AsType[*client.ProtocolError](err); return ok }
	timeout := func(err error) bool { _, ok := errors.AsType[*client.TimeoutError](err); return ok }
	unreachable := func(err error) bool { _, ok := errors.AsType[*client.UnreachableError](err); return ok }
	tests := []struct {
		name   string
		script func(*peer)
		opts   *client.Options
		is     func(error) bool
		text   string
	}{
		{"no common version", answer(discover(-32022, `{"supported":["2099-01-01"]}`)), nil, version, "2099-01-01"},
		{"unsupported, and no word of what is", answer(discover(-32022, "")), nil, version, "does not speak"},
		{"refuses what it supports", answer(discover(-32022, `{"supported":["2026-07-28"]}`), discover(-32022, `{"supported":["2026-07-28"]}`)), nil, version, "2026-07-28"},
		{"stateless, wants a capability", answer(discover(-32021, `{"requiredCapabilities":{"sampling":{}}}`)), nil, client.IsRemote, "-32021"},
		{"unknown version in answer", answer(discover(-32601, ""), initialize(greeting("2030-01-01"))), nil, version, "2030-01-01"},
		{"stateless version in answer", answer(discover(-32601, ""), initialize(greeting(r5))), nil, version, r5},
		{"no version in answer", answer(discover(-32601, ""), initialize(`{}`)), nil, protocol, "protocolVersion"},
		{"bad shape of answer", answer(discover(-32601, ""), initialize(`{"protocolVersion":4}`)), nil, protocol, "protocolVersion"},
		{"initialize refused", answer(discover(-32601, ""), func(p *peer) { p.fail(p.want(mcp.MethodInitialize), -32603, "") }), nil, client.IsRemote, "initialize"},
		{"silent for good", silent, nil, timeout, "within 1m0s"},
		{"exits every time", func(p *peer) { p.next() }, nil, unreachable, "server not reached"},
		{"forced older, answers another", answer(initialize(greeting(r3))), &client.Options{Revision: r4}, version, r3},
		{"forced older, refused", answer(func(p *peer) {
			p.fail(p.want(mcp.MethodInitialize), -32602, `{"supported":["2024-11-05"]}`)
		}), &client.Options{Revision: r4}, version, r1},
		{"forced older, refused without a word", answer(func(p *peer) { p.fail(p.want(mcp.MethodInitialize), -32602, "") }), &client.Options{Revision: r4}, client.IsRemote, "-32602"},
		{"forced stateless, older server", answer(discover(-32601, "")), &client.Options{Revision: r5}, version, r5},
		{"forced stateless, knows only older", answer(func(p *peer) { p.result(p.want(mcp.MethodServerDiscover), discovery(r4)) }), &client.Options{Revision: r5}, version, r4},
		{"forced stateless, exits", func(p *peer) { p.next() }, &client.Options{Revision: r5}, unreachable, "discover"},
		{"forced stateless, silent", silent, &client.Options{Revision: r5, ConnectTimeout: time.Second}, timeout, "within 1s"},
	}
	for _, test := range tests {
		bubble(t, test.name, func(t *testing.T) {
			_, err := client.New(info, test.opts).Connect(t.Context(), fake(t, test.script))
			attempts, ok := errors.AsType[*client.ConnectError](err)
			if !ok || !test.is(err) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("got %T %v, want another kind, or %q in it", errors.Unwrap(err), err, test.text)
			}
			if ok && len(attempts.Tried) == 0 {
				t.Errorf("%v: nothing tried", err)
			}
		})
	}
}

func TestForcedRevisions(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "VER-MULTI")
	for _, revision := range []string{r1, r2, r3, r4, r5} {
		bubble(t, revision, func(t *testing.T) {
			sess := connect(t, fake(t, func(p *peer) {
				method := mcp.MethodInitialize
				if revision == r5 {
					method = mcp.MethodServerDiscover
				}
				m := p.want(method)
				if revision == r5 {
					p.result(m, discovery(r5))
				} else {
					p.result(m, greeting(revision))
				}
				p.idle()
			}), &client.Options{Revision: revision})
			if sess.Revision() != revision {
				t.Errorf("got %s, want %s", sess.Revision(), revision)
			}
		})
	}
	if _, err := client.New(info, &client.Options{Revision: "yesterday"}).Connect(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "yesterday") {
		t.Errorf("unknown revision: got %v", err)
	}
}

// TestProbeHTTP has the rows of the rules for HTTP, which has a status.
func TestProbeHTTP(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-DUAL-PROBE", "HTTP-DUAL-FALLBACK", "HTTP-DUAL-INSPECT-400", "HTTP-DUAL-MODERN", "VER-ERA-MODERN-ERROR")
	network := errors.New("connection refused")
	tests := []struct {
		name     string
		resp     transport.Response
		err      error
		revision string // empty: connecting fails
		text     string // of the error
	}{
		{"discovered", ok(discovery(r5)), nil, r5, ""},
		{"200, other result", ok(`{"tools":[]}`), nil, r4, ""},
		{"200, error", refusal(200, -32601, ""), nil, r4, ""},
		{"200, stateless error", refusal(200, -32022, `{"supported":["2025-06-18"]}`), nil, r3, ""},
		{"200, no message", transport.Response{}, badStatusError(200), r4, ""},
		{"400, unsupported version", refusal(400, -32022, `{"supported":["2025-03-26","2025-06-18"]}`), nil, r3, ""},
		{"400, header mismatch", refusal(400, -32020, ""), nil, "", "-32020"},
		{"400, capability", refusal(400, -32021, ""), nil, "", "-32021"},
		{"404, method not found", refusal(404, -32601, ""), nil, r5, ""},
		{"404, empty", transport.Response{Status: 404}, nil, r4, ""},
		{"404, text", transport.Response{}, badStatusError(404), r4, ""},
		{"400, text", transport.Response{}, badStatusError(400), r4, ""},
		{"400, -32000", refusal(400, -32000, ""), nil, r4, ""},
		{"400, -32602", refusal(400, -32602, ""), nil, r4, ""},
		{"405", transport.Response{}, badStatusError(405), r4, ""},
		{"422", transport.Response{}, badStatusError(422), r4, ""},
		{"401", transport.Response{}, badStatusError(401), "", "401"},
		{"401 in the response", transport.Response{Status: 401}, nil, "", "401"},
		{"403", refusal(403, -32601, ""), nil, "", "-32601"},
		{"500", transport.Response{}, badStatusError(500), "", "500"},
		{"503", refusal(503, -32603, ""), nil, "", "-32603"},
		{"302", transport.Response{}, badStatusError(302), "", "302"},
		{"network", transport.Response{}, network, "", "connection refused"},
		{"unreadable", transport.Response{}, &transport.MalformedError{Problem: "rubbish"}, r4, ""},
	}
	for _, test := range tests {
		bubble(t, test.name, func(t *testing.T) {
			via := &fakeHTTP{answer: func(m *transport.Outgoing) (transport.Response, error) {
				if m.Method == mcp.MethodServerDiscover {
					if m.Revision != r5 || m.Route == nil {
						t.Errorf("probe under revision %q, route %v", m.Revision, m.Route)
					}
					return test.resp, test.err
				}
				if m.Revision != "" || m.Route != nil {
					t.Errorf("initialize under revision %q, route %v", m.Revision, m.Route)
				}
				return ok(greeting(m.Params.(*mcp.InitializeParams).ProtocolVersion)), nil
			}}
			sess, err := client.New(info, nil).Connect(t.Context(), via)
			if test.revision == "" {
				if err == nil || !strings.Contains(err.Error(), test.text) || slices.Contains(via.methods(), mcp.MethodInitialize) {
					t.Errorf("got %v after %q, want an error with %q and no initialize", err, via.methods(), test.text)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = sess.Close() }()
			if sess.Revision() != test.revision {
				t.Errorf("got %s, want %s", sess.Revision(), test.revision)
			}
		})
	}
}

// fallbackHTTP is a fakeHTTP with another way to reach the server.
type fallbackHTTP struct {
	*fakeHTTP
	other transport.Transport
}

func (f *fallbackHTTP) Fallback() transport.Transport { return f.other }

// TestFallback checks when the transport of the oldest revision is tried, and
// what is told when that fails too.
func TestFallback(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SSE-COMPAT-CLIENT-PROBE-LEGACY", "SSE-COMPAT-CLIENT-PROBE-MODERN",
		"SSE-COMPAT-FALLBACK-400-404-405", "SSE-COMPAT-FALLBACK-BODY")
	tests := []struct {
		name string
		resp transport.Response
		err  error
		sse  bool
	}{
		{"400", transport.Response{}, badStatusError(400), true},
		{"404", transport.Response{}, badStatusError(404), true},
		{"405", transport.Response{}, badStatusError(405), true},
		{"404 in the response", transport.Response{Status: 404}, nil, true},
		{"400 with an error", refusal(400, -32000, ""), nil, true},
		{"400, stateless error", refusal(400, -32020, ""), nil, false},
		{"404, unknown method", refusal(404, -32601, ""), nil, false},
		{"200 with an error", refusal(200, -32602, ""), nil, false},
		{"401", transport.Response{}, badStatusError(401), false},
		{"403", transport.Response{}, badStatusError(403), false},
		{"410", transport.Response{}, badStatusError(410), false},
		{"500", transport.Response{}, badStatusError(500), false},
	}
	for _, test := range tests {
		via := &fakeHTTP{answer: func(m *transport.Outgoing) (transport.Response, error) {
			if m.Method == mcp.MethodServerDiscover {
				return transport.Response{}, badStatusError(400)
			}
			return test.resp, test.err
		}}
		bubble(t, test.name, func(t *testing.T) {
			sess, err := client.New(info, nil).Connect(t.Context(), &fallbackHTTP{via, fake(t, func(p *peer) {
				p.result(p.want(mcp.MethodInitialize), greeting(r1))
				p.idle()
			})})
			if (err == nil) != test.sse {
				t.Fatalf("Connect: %v, want it to succeed: %v", err, test.sse)
			}
			if err == nil {
				if sess.Revision() != r1 {
					t.Errorf("got %s, want %s", sess.Revision(), r1)
				}
				_ = sess.Close()
			}
		})
		bubble(t, test.name+", in vain", func(t *testing.T) {
			lost := errors.New("nothing there")
			_, err := client.New(info, nil).Connect(t.Context(), &fallbackHTTP{via, transport.Dial(func(context.Context) (transport.Conn, error) {
				return nil, lost
			})})
			e, ok := errors.AsType[*client.ConnectError](err)
			if !ok {
				t.Fatalf("got %v, want a ConnectError", err)
			}
			want := []string{mcp.MethodServerDiscover, mcp.MethodInitialize}
			if test.sse {
				want = append(want, "HTTP+SSE")
			}
			var steps []string
			for _, a := range e.Tried {
				steps = append(steps, a.Step)
			}
			if !slices.Equal(steps, want) || errors.Is(err, lost) != test.sse {
				t.Errorf("tried %v: %v; want %v", steps, err, want)
			}
			if status, ok := errors.AsType[badStatusError](err); ok && status != test.err {
				t.Errorf("the reason is %v, want %v", status, test.err)
			}
		})
		bubble(t, test.name+", without", func(t *testing.T) {
			_, err := client.New(info, nil).Connect(t.Context(), &fallbackHTTP{via, nil})
			if e, ok := errors.AsType[*client.ConnectError](err); !ok || len(e.Tried) != 2 {
				t.Errorf("got %v, want two attempts", err)
			}
		})
	}
}

// TestHTTPSilence checks that a slow HTTP server is not taken for an old one.
func TestHTTPSilence(t *testing.T) {
	t.Parallel()
	bubble(t, "silent", func(t *testing.T) {
		via := &fakeHTTP{answer: func(*transport.Outgoing) (transport.Response, error) {
			<-time.After(20 * time.Second)
			return ok(discovery(r5)), nil
		}}
		if sess := connect(t, via, nil); sess.Revision() != r5 {
			t.Errorf("got %s, want %s", sess.Revision(), r5)
		}
	})
}

// TestEraIsRemembered connects again: no probe, unless the server is another.
func TestEraIsRemembered(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "VER-ERA-CACHE")
	bubble(t, "older", func(t *testing.T) {
		direct := func(version string) func(*peer) {
			return func(p *peer) {
				p.result(p.want(mcp.MethodInitialize), greeting(version))
				p.idle()
			}
		}
		via := fake(t,
			func(p *peer) { p.initialize(r3); p.idle() },
			direct(r3),
			func(p *peer) { // another server has taken its place
				p.fail(p.want(mcp.MethodInitialize), -32601, "")
				p.idle()
			},
			func(p *peer) { p.open(r5); p.idle() },
			func(p *peer) { p.open(r5); p.idle() },
		)
		c := client.New(info, nil)
		for i, want := range []string{r3, r3, r5, r5} {
			sess, err := c.Connect(t.Context(), via)
			if err != nil {
				t.Fatalf("connection %d: %v", i, err)
			}
			if sess.Revision() != want {
				t.Errorf("connection %d: got %s, want %s", i, sess.Revision(), want)
			}
			if err := sess.Close(); err != nil {
				t.Errorf("connection %d: close: %v", i, err)
			}
		}
		if via.opens() != 5 {
			t.Errorf("%d connections, want 5", via.opens())
		}
	})
	bubble(t, "not a map key", func(t *testing.T) {
		via := fake(t, func(p *peer) { p.open(r5); p.idle() })
		connect(t, unhashable{via, nil}, nil)
	})
}

type unhashable struct {
	transport.Transport
	_ []int
}

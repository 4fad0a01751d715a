package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ferrymcp/ferry/host"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

func TestNames(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "TOOL-NAME-AGGREGATE-DISAMBIGUATE", "TOOL-NAME-NO-SERVERINFO-KEY")
	long := strings.Repeat("long", 20)
	type up struct {
		name   string
		prefix string // "-" for the name
		tools  []string
	}
	for name, test := range map[string]struct {
		opts     *host.Options
		ups      []up
		want     []string
		warnings int
	}{
		"prefix":    {nil, []up{{"a", "-", []string{"x", "y"}}, {"b", "p.q", []string{"x"}}}, []string{"a_x", "a_y", "p.q_x"}, 0},
		"separator": {&host.Options{Separator: "__"}, []up{{"a", "-", []string{"x"}}}, []string{"a__x"}, 0},
		"collision without prefix": {
			nil,
			[]up{{"a", "", []string{"x"}}, {"b", "", []string{"x", "y"}}},
			[]string{"x", "b_x", "y"},
			1,
		},
		"collision with prefix": {
			nil,
			[]up{{"a", "-", []string{"b_c"}}, {"a_b", "-", []string{"c"}}},
			[]string{"a_b_c", "a_b_c_0c1d18f5"},
			1,
		},
		"collision all over": {
			nil,
			[]up{{"a", "", []string{"x", "b_x"}}, {"b", "", []string{"x"}}},
			[]string{"b_x", "x", "x_e1707ddf"},
			1,
		},
		"characters": {nil, []up{{"über server", "-", []string{"x"}}}, []string{"_ber_server_x"}, 0},
		"long": {
			nil,
			[]up{{"a", "-", []string{long + "1", long + "2"}}},
			[]string{"a_longlonglonglonglonglonglonglonglonglonglonglonglongl_ec33bf7b", "a_longlonglonglonglonglonglonglonglonglonglonglonglongl_7a8a32c0"},
			0,
		},
		"longer": {&host.Options{MaxName: 1000}, []up{{"a", "-", []string{long}}}, []string{"a_" + long}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var upstreams []host.Upstream
				for _, u := range test.ups {
					p := newPeer(t, true, nil)
					p.tool(u.tools...)
					upstream := p.upstream(u.name)
					if u.prefix != "-" {
						upstream.Prefix = &u.prefix
					}
					upstreams = append(upstreams, upstream)
				}
				w := newHost(t, test.opts, upstreams...)
				w.start(t)
				got := w.tools()
				if !slices.Equal(got, test.want) {
					t.Errorf("tools = %q, want %q", got, test.want)
				}
				if c := w.Catalog(); len(c.Warnings) != test.warnings {
					t.Errorf("warnings = %q, want %d", c.Warnings, test.warnings)
				}
				for _, tool := range w.Catalog().Tools {
					if err := mcp.ValidateToolName(tool.Tool.Name); err != nil {
						t.Error(err)
					}
					raw, err := w.CallTool(t.Context(), tool.Tool.Name, nil, nil)
					if err != nil || !strings.Contains(string(raw), `"text":"`+tool.Original+`"`) {
						t.Errorf("CallTool(%s) = %s, %v", tool.Tool.Name, raw, err)
					}
				}
			})
		})
	}
}

// TestReserved has a server go down whose name another could take.
func TestReserved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := newPeer(t, true, nil), newPeer(t, false, nil)
		a.tool("x")
		b.tool("x")
		w := newHost(t, nil, noPrefix(a.upstream("a")), noPrefix(b.upstream("b")))
		w.start(t)
		a.down.Store(true)
		a.drop()
		w.until(t, "loss of a", func() bool { return w.state("a").State == host.Failed })
		if got := w.tools(); !slices.Equal(got, []string{"b_x"}) {
			t.Errorf("tools = %q", got)
		}
		var down *host.UpstreamError
		if raw, err := w.CallTool(t.Context(), "x", nil, nil); !errors.As(err, &down) || down.Upstream != "a" || !down.Temporary() {
			t.Errorf("CallTool(x) = %s, %v", raw, err)
		}
	})
}

func TestShow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, false, nil)
		p.tool("x", "y")
		u := p.upstream("p")
		u.Show = func(tool string) bool { return tool != "x" }
		w := newHost(t, nil, u)
		w.start(t)
		if got := w.tools(); !slices.Equal(got, []string{"p_y"}) {
			t.Errorf("tools = %q", got)
		}
		if _, err := w.CallTool(t.Context(), "p_x", nil, nil); err == nil {
			t.Error("a hidden tool can be called")
		}
	})
}

// TestResourcesShared has two servers with the same resources.
func TestResourcesShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var upstreams []host.Upstream
		var asked []string
		for _, name := range []string{"a", "b"} {
			p := newPeer(t, name == "a", nil)
			p.srv.AddResource(mcp.Resource{URI: "x://1", Name: name}, nothing)
			p.srv.AddResourceTemplate(mcp.ResourceTemplate{URITemplate: "x://{id}/end", Name: name}, nothing)
			if name == "b" {
				p.srv.AddResourceTemplate(mcp.ResourceTemplate{URITemplate: "file:///{+path}", Name: name}, nothing)
			}
			p.srv.Handle(mcp.MethodResourcesRead, func(_ context.Context, c *server.Call) (any, error) {
				asked = append(asked, name)
				if c.Name == "x://fail" {
					return nil, jsonrpc.Errorf(jsonrpc.CodeInternal, "%s is broken", name)
				}
				if name == "a" && c.Name != "x://1" {
					return nil, &mcp.ResourceNotFoundError{URI: c.Name}
				}
				return json.RawMessage(`{"contents":[{"uri":"u","text":"` + name + `"}]}`), nil
			})
			upstreams = append(upstreams, p.upstream(name))
		}
		w := newHost(t, nil, upstreams...)
		w.start(t)
		c := w.Catalog()
		if len(c.Resources) != 1 || c.Resources[0].Upstream != "a" || len(c.Templates) != 2 || len(c.Warnings) != 2 {
			t.Errorf("catalog = %+v", c)
		}
		for uri, want := range map[string]string{"x://1": "a", "x://2/end": "a b", "x://other": "a b", "file:///f": "b", "FILE:x": "b", "z://": "", "x://fail": "a b"} {
			asked = nil
			_, err := w.ReadResource(t.Context(), uri, nil, nil)
			if got := strings.Join(asked, " "); got != want {
				t.Errorf("ReadResource(%s) asked %q, want %q", uri, got, want)
			}
			if uri == "x://fail" && (err == nil || !strings.Contains(err.Error(), "a is broken")) {
				t.Errorf("ReadResource(%s) = %v", uri, err)
			}
		}
	})
}

func nothing(context.Context, *server.Call, string, map[string]string) (*mcp.ReadResourceResult, error) {
	return nil, nil
}

func TestComplete(t *testing.T) {
	t.Parallel()
	eras(t, func(t *testing.T, legacy bool) {
		p := newPeer(t, legacy, &server.Options{Complete: func(_ context.Context, _ *server.Call, p *mcp.CompleteParams) (*mcp.Completion, error) {
			return &mcp.Completion{Values: []string{p.Ref.Name + p.Ref.URI}}, nil
		}})
		q := newPeer(t, legacy, nil)
		for _, peer := range []*peer{p, q} {
			peer.srv.AddRawPrompt(mcp.Prompt{Name: "ask"}, func(context.Context, *server.Call) (any, error) { return nil, nil })
		}
		p.srv.AddResource(mcp.Resource{URI: "x://1", Name: "1"}, nothing)
		p.srv.AddResourceTemplate(mcp.ResourceTemplate{URITemplate: "y://{id}", Name: "y"}, nothing)
		w := newHost(t, nil, p.upstream("p"), q.upstream("q"))
		w.start(t)
		for ref, want := range map[string]string{
			`{"type":"ref/prompt","name":"p_ask"}`:       `["ask"]`,
			`{"type":"ref/prompt","name":"q_ask"}`:       `[]`,
			`{"type":"ref/resource","uri":"x://1"}`:      `["x://1"]`,
			`{"type":"ref/resource","uri":"y://{id}"}`:   `["y://{id}"]`,
			`{"type":"ref/resource","uri":"z://"}`:       ``,
			`{"type":"ref/prompt","name":"nobody's"}`:    ``,
			`{"type":"ref/prompt","name":["malformed"]}`: ``,
		} {
			raw, err := w.Complete(t.Context(), json.RawMessage(`{"argument":{"name":"a","value":""},"ref":`+ref+`}`), nil)
			if (err != nil) != (want == "") || !strings.Contains(string(raw), want) {
				t.Errorf("Complete(%s) = %s, %v; want %s", ref, raw, err, want)
			}
		}
	})
}

func TestSubscribe(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SUB-STDIO-RELISTEN")
	eras(t, func(t *testing.T, legacy bool) {
		p := newPeer(t, legacy, nil)
		p.srv.AddResource(mcp.Resource{URI: "x://1", Name: "1"}, nothing)
		p.srv.AddRawTool(mcp.Tool{Name: "talk"}, func(ctx context.Context, c *server.Call) (any, error) {
			return json.RawMessage(`{"content":[]}`), c.Log(ctx, mcp.LevelError, "peer", "something")
		})
		heard := make(chan string, 8)
		w := newHost(t, &host.Options{Hooks: host.Hooks{
			ResourceUpdated: func(upstream, uri string) { heard <- upstream + " " + uri },
			Log:             func(upstream string, m mcp.LoggingMessageParams) { heard <- upstream + " " + string(m.Data) },
		}}, p.upstream("p"))
		w.start(t)
		if err := w.Subscribe(t.Context(), "x://1"); err != nil {
			t.Fatal(err)
		}
		if err := w.Subscribe(t.Context(), "x://1"); err != nil {
			t.Errorf("second Subscribe: %v", err)
		}
		synctest.Wait()
		hear := func(want string) {
			t.Helper()
			if got := <-heard; got != want {
				t.Errorf("heard %q, want %q", got, want)
			}
		}
		p.srv.ResourceUpdated("x://1")
		hear("p x://1")

		p.drop()
		w.until(t, "loss", func() bool { return w.state("p").State != host.Ready })
		if err := w.Subscribe(t.Context(), "x://1"); err == nil {
			t.Error("Subscribe at a lost server = nil")
		}
		w.until(t, "ready again", func() bool { return w.state("p").State == host.Ready })
		synctest.Wait()
		p.srv.ResourceUpdated("x://1")
		hear("p x://1")

		params := fmt.Sprintf(`{"_meta":{%q:"info"}}`, mcp.MetaLogLevel)
		if _, err := w.CallTool(t.Context(), "p_talk", json.RawMessage(params), nil); err != nil {
			t.Error(err)
		}
		hear(`p "something"`)

		for range 2 {
			if err := w.Unsubscribe(t.Context(), "x://1"); err != nil {
				t.Errorf("Unsubscribe: %v", err)
			}
		}
		synctest.Wait()
		p.srv.ResourceUpdated("x://1")
		synctest.Wait()
		if len(heard) > 0 {
			t.Errorf("heard %q after Unsubscribe", <-heard)
		}
		if err := w.Subscribe(t.Context(), "z://"); err == nil {
			t.Error("Subscribe to what nobody has = nil")
		}
		if err := w.Unsubscribe(t.Context(), "z://"); err != nil {
			t.Errorf("Unsubscribe from what nobody has = %v", err)
		}
	})
}

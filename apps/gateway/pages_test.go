package gateway_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/ferrymcp/ferry/apps/gateway"
	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/ext/apps"
	"github.com/ferrymcp/ferry/host"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// TestPagesPassThrough puts the gateway before a server whose tool has a page that
// is in no list, as the extension for pages allows.
func TestPagesPassThrough(t *testing.T) {
	t.Parallel()
	const uri = "ui://weather/chart"
	newUpstream := func() *server.Server {
		srv := server.New(mcp.Implementation{Name: "up", Version: "1"}, nil)
		apps.AddPage(srv, mcp.Resource{URI: uri, Name: "chart"}, "<!doctype html>",
			&apps.Settings{CSP: &apps.CSP{FrameDomains: []string{"https://example.com"}}})
		srv.Handle(mcp.MethodResourcesList, func(context.Context, *server.Call) (any, error) {
			return &mcp.ListResourcesResult{}, nil
		})
		server.AddTool(srv, apps.Link(mcp.Tool{Name: "forecast"}, apps.Tool{ResourceURI: uri}),
			func(_ context.Context, c *server.Call, _ struct{}) (string, error) {
				return fmt.Sprint("pages ", apps.Supported(c.ClientCapabilities())), nil
			})
		return srv
	}
	for _, sessions := range []bool{false, true} {
		// The host is made here, so it declares what Open would have declared.
		var opts host.Options
		apps.Declare(&opts.Capabilities)
		h := host.New(info, &opts)
		if err := h.Add(host.Upstream{Name: "weather", Transport: serve(t, newUpstream(), sessions)}); err != nil {
			t.Fatal(err)
		}
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		g := gateway.New(h, nil)
		t.Cleanup(func() { _, _ = g.Close(), h.Close() })
		clientOpts := &client.Options{}
		apps.Declare(&clientOpts.Capabilities)
		sess := connect(t, g, clientOpts)

		if got := string(sess.ServerCapabilities().Extensions[apps.Extension]); got != "{}" {
			t.Errorf("sessions %v: the gateway declares %q, want {}", sessions, got)
		}
		for tool, err := range sess.Tools(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			ui, _ := apps.OfTool(tool)
			page, err := apps.Read(t.Context(), sess, ui.ResourceURI, nil)
			if err != nil || page.Settings.CSP == nil || page.Settings.CSP.FrameDomains[0] != "https://example.com" {
				t.Errorf("sessions %v: page of %s = %+v, %v", sessions, tool.Name, page, err)
			}
			result, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: tool.Name}, nil)
			if err != nil || result.Content[0].Text != "pages true" {
				t.Errorf("sessions %v: result = %v, %v, want it to see that pages can be shown", sessions, result, err)
			}
		}
	}
	if caps := connect(t, open(t, nil), nil).ServerCapabilities(); caps.Extensions != nil {
		t.Errorf("a gateway without pages declares %v", caps.Extensions)
	}
}

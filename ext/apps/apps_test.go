package apps_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/ext/apps"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

func TestMain(m *testing.M) { mcptest.Main(m) }

const (
	pageURI = "ui://weather/chart"
	html    = "<!doctype html><title>Weather</title>"
)

// weather has a tool with a page, and one that is only for the page.
func weather() *server.Server {
	srv := server.New(mcp.Implementation{Name: "weather", Version: "1"}, nil)
	apps.AddPage(srv, mcp.Resource{URI: pageURI, Name: "chart"}, html, &apps.Settings{
		CSP:           &apps.CSP{ConnectDomains: []string{"https://api.example.com"}},
		Permissions:   &apps.Permissions{Geolocation: &mcp.Support{}},
		PrefersBorder: mcp.Ptr(true),
	})
	tool := func(t mcp.Tool, ui apps.Tool) {
		server.AddTool(srv, apps.Link(t, ui), func(_ context.Context, c *server.Call, _ struct{}) (string, error) {
			return fmt.Sprintf("pages %v", apps.Supported(c.ClientCapabilities())), nil
		})
	}
	tool(mcp.Tool{Name: "forecast"}, apps.Tool{ResourceURI: pageURI})
	tool(mcp.Tool{Name: "refresh"}, apps.Tool{ResourceURI: pageURI, Visibility: []string{apps.App}})
	return srv
}

// TestServerAndHost goes through what a host does, at every revision.
func TestServerAndHost(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "APPS-MIME", "APPS-RESOURCE-READ", "APPS-SERVER-ADVERTISE", "APPS-TOOL-META", "APPS-URI-SCHEME",
		"APPS-CSP-PERMISSIONS")
	mcptest.Matrix(t, weather, func(t *testing.T, sess *client.Session) {
		old := slices.Contains([]string{"2024-11-05", "2025-03-26"}, sess.Revision())
		if got, want := string(sess.ServerCapabilities().Extensions[apps.Extension]), "{}"; got != want && !old {
			t.Errorf("the server declares %q, want %q", got, want)
		}
		page, err := apps.Read(t.Context(), sess, pageURI, nil)
		if err != nil {
			t.Fatal(err)
		}
		if page.HTML != html {
			t.Errorf("page = %q, want %q", page.HTML, html)
		}
		for r, err := range sess.Resources(t.Context()) {
			if err != nil || r.URI != pageURI || r.MIMEType != apps.MIMEType {
				t.Errorf("resource = %q of type %q, %v", r.URI, r.MIMEType, err)
			}
		}
		if old {
			return // metadata of resources and tools came later
		}
		want := apps.Settings{
			CSP:           &apps.CSP{ConnectDomains: []string{"https://api.example.com"}},
			Permissions:   &apps.Permissions{Geolocation: &mcp.Support{}},
			PrefersBorder: mcp.Ptr(true),
		}
		if diff := cmp.Diff(want, page.Settings); diff != "" {
			t.Errorf("settings (-want +got):\n%s", diff)
		}
		var model, app []string
		for tool, err := range sess.Tools(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if ui, ok := apps.OfTool(tool); !ok || ui.ResourceURI != pageURI {
				t.Errorf("page of %s = %q, %v", tool.Name, ui.ResourceURI, ok)
			}
			if apps.ForModel(tool) {
				model = append(model, tool.Name)
			}
			if apps.ForApp(tool) {
				app = append(app, tool.Name)
			}
		}
		if diff := cmp.Diff([][]string{{"forecast"}, {"forecast", "refresh"}}, [][]string{model, app}); diff != "" {
			t.Errorf("tools for the model and the app (-want +got):\n%s", diff)
		}
	})
}

// TestNegotiation calls as a host that has declared pages, and as others.
func TestNegotiation(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "APPS-CLIENT-MIMETYPES", "APPS-NEGOTIATE", "APPS-SERVER-CHECK", "APPS-TEXT-FALLBACK")
	var declared mcp.ClientCapabilities
	apps.Declare(&declared)
	if got, want := string(declared.Extensions[apps.Extension]), `{"mimeTypes":["text/html;profile=mcp-app"]}`; got != want {
		t.Errorf("declared %s, want %s", got, want)
	}
	with := func(settings string) mcp.ClientCapabilities {
		return mcp.ClientCapabilities{Extensions: map[string]json.RawMessage{apps.Extension: json.RawMessage(settings)}}
	}
	for _, revision := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		for _, c := range []struct {
			caps mcp.ClientCapabilities
			want string
		}{
			{declared, "pages true"},
			{mcp.ClientCapabilities{}, "pages false"},
			{with(`{}`), "pages false"},
			{with(`{"mimeTypes":["text/html"]}`), "pages false"},
			{with(`{"mimeTypes":"text/html;profile=mcp-app"}`), "pages false"},
		} {
			sess := mcptest.Pair(t, weather(), &client.Options{Revision: revision, Capabilities: c.caps})
			result, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "forecast"}, nil)
			if err != nil || len(result.Content) != 1 || result.Content[0].Text != c.want {
				t.Errorf("%s, %s: result %v, %v, want %q", revision, c.caps.Extensions[apps.Extension], result, err, c.want)
			}
		}
	}
}

func TestOfTool(t *testing.T) {
	t.Parallel()
	for meta, want := range map[string]apps.Tool{
		`{}`:                                          {},
		`{"ui":{"resourceUri":"ui://a"}}`:             {ResourceURI: "ui://a"},
		`{"ui/resourceUri":"ui://a"}`:                 {ResourceURI: "ui://a"},
		`{"ui":{"resourceUri":"https://a"}}`:          {},
		`{"ui":{"resourceUri":"ui://"}}`:              {},
		`{"ui":"ui://a"}`:                             {},
		`{"ui":{"visibility":["app"]}}`:               {Visibility: []string{"app"}},
		`{"ui":{"visibility":[]}}`:                    {Visibility: []string{}},
		`{"ui":{"resourceUri":3},"ui/resourceUri":4}`: {},
	} {
		var tool mcp.Tool
		if err := json.Unmarshal([]byte(`{"name":"t","_meta":`+meta+`}`), &tool); err != nil {
			t.Fatal(err)
		}
		got, _ := apps.OfTool(tool)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("OfTool of %s (-want +got):\n%s", meta, diff)
		}
	}
}

// TestReadRefuses reads what is no page.
func TestReadRefuses(t *testing.T) {
	t.Parallel()
	srv := server.New(mcp.Implementation{Name: "other", Version: "1"}, nil)
	for uri, contents := range map[string]mcp.ResourceContents{
		"ui://plain":  mcp.TextResource("ui://plain", "text/html", html),
		"ui://other":  mcp.TextResource("ui://else", apps.MIMEType, html),
		"ui://binary": mcp.BlobResource("ui://binary", apps.MIMEType, []byte{0xff}),
		"ui://meta":   {URI: "ui://meta", MIMEType: apps.MIMEType, Meta: mcp.Meta{"ui": json.RawMessage(`3`)}},
		"ui://blob":   mcp.BlobResource("ui://blob", apps.MIMEType, []byte(html)),
		"file:///x":   mcp.TextResource("file:///x", apps.MIMEType, html),
	} {
		srv.AddResource(mcp.Resource{URI: uri, Name: uri},
			func(context.Context, *server.Call, string, map[string]string) (*mcp.ReadResourceResult, error) {
				return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{contents}}, nil
			})
	}
	sess := mcptest.Pair(t, srv, nil)
	for uri, want := range map[string]string{
		"ui://plain": "the type is", "ui://other": "other resources", "ui://binary": "UTF-8", "ui://meta": "asks for",
		"file:///x": "not a ui:// URI", "ui://none": "not found",
	} {
		if page, err := apps.Read(t.Context(), sess, uri, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Read(%s) = %v, %v, want an error with %q", uri, page, err, want)
		}
	}
	if page, err := apps.Read(t.Context(), sess, "ui://blob", nil); err != nil || page.HTML != html {
		t.Errorf("Read of a blob = %v, %v", page, err)
	}
}

func TestContentSecurityPolicy(t *testing.T) {
	t.Parallel()
	closed := (&apps.Page{}).ContentSecurityPolicy(nil)
	for _, want := range []string{
		"default-src 'none'", "script-src 'self' 'unsafe-inline'", "style-src 'self' 'unsafe-inline'",
		"img-src 'self' data:", "media-src 'self' data:", "connect-src 'none'",
	} {
		if !slices.Contains(strings.Split(closed, "; "), want) {
			t.Errorf("policy of a page that asks for nothing = %q, want %q in it", closed, want)
		}
	}
	page := &apps.Page{Settings: apps.Settings{CSP: &apps.CSP{
		ConnectDomains:  []string{"https://a.example", "wss://b.example:8443", "https://no.example", "*", "https:", "'self'"},
		ResourceDomains: []string{"https://*.cdn.example", "https://x; script-src *", "https://x\nfoo", "data:", "https://*"},
		FrameDomains:    []string{"https://x/path", "https://x:port", "https://u@x"},
	}}}
	want := "default-src 'none'; script-src 'self' 'unsafe-inline' https://*.cdn.example; " +
		"style-src 'self' 'unsafe-inline' https://*.cdn.example; connect-src https://a.example wss://b.example:8443; " +
		"img-src 'self' data: https://*.cdn.example; font-src 'self' https://*.cdn.example; " +
		"media-src 'self' data: https://*.cdn.example; frame-src 'none'; object-src 'none'; base-uri 'self'"
	got := page.ContentSecurityPolicy(func(origin string) bool { return origin != "https://no.example" })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("policy (-want +got):\n%s", diff)
	}
}

func TestPermissionsPolicy(t *testing.T) {
	t.Parallel()
	page := &apps.Page{Settings: apps.Settings{Permissions: &apps.Permissions{
		Camera: &mcp.Support{}, ClipboardWrite: &mcp.Support{}, Geolocation: &mcp.Support{},
	}}}
	if got := page.PermissionsPolicy(nil); got != "" {
		t.Errorf("allowed without a decision: %q", got)
	}
	got := page.PermissionsPolicy(func(ability string) bool { return ability != "geolocation" })
	if want := "camera; clipboard-write"; got != want {
		t.Errorf("allowed %q, want %q", got, want)
	}
}

func TestServersAreHeldToTheRules(t *testing.T) {
	t.Parallel()
	srv := server.New(mcp.Implementation{Name: "wrong", Version: "1"}, nil)
	for name, f := range map[string]func(){
		"page of another scheme": func() { apps.AddPage(srv, mcp.Resource{URI: "https://a", Name: "a"}, html, nil) },
		"page that is no text":   func() { apps.AddPage(srv, mcp.Resource{URI: "ui://a", Name: "a"}, "\xff", nil) },
		"link to another scheme": func() { apps.Link(mcp.Tool{Name: "t"}, apps.Tool{ResourceURI: "https://a"}) },
		"unknown visibility":     func() { apps.Link(mcp.Tool{Name: "t"}, apps.Tool{Visibility: []string{"user"}}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

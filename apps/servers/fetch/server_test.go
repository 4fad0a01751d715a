package fetch_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ferrymcp/ferry/apps/servers/fetch"
	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/netguard"
	"github.com/ferrymcp/ferry/server"
)

func TestMain(m *testing.M) { mcptest.Main(m) }

type object map[string]any

// local lets tests reach sites on this machine.
func local() *netguard.Dialer {
	return &netguard.Dialer{Prefixes: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}
}

func newServer(t testing.TB, o *fetch.Options) *server.Server {
	t.Helper()
	if o.Dialer == nil {
		o.Dialer = local()
	}
	srv, err := fetch.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return srv
}

// call calls the tool and returns the result and the text of its first block.
func call(t testing.TB, sess *client.Session, arguments any) (*mcp.CallToolResult, string) {
	t.Helper()
	data, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	result, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "fetch", Arguments: data}, nil)
	if err != nil {
		t.Fatalf("call with %s: %v", data, err)
	}
	if len(result.Content) != 1 {
		t.Fatalf("call with %s: %d blocks, want 1", data, len(result.Content))
	}
	return result, result.Content[0].Text
}

// serve serves a site.
func serve(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	site := httptest.NewServer(h)
	t.Cleanup(site.Close)
	return site.URL
}

// say answers with a page of a type.
func say(w http.ResponseWriter, contentType, body string) {
	w.Header()["Content-Type"] = []string{contentType}
	_, _ = w.Write([]byte(body))
}

const article = `<html><head><title>Ships</title></head><body><nav><a href="/home">Home</a></nav><article><h1>Ships</h1><p>` +
	`A ferry carries people, and often their vehicles, across water, on a route that it goes to and fro, again and again.</p>` +
	`<p>Some are <a href="/fast">fast</a>, and <b>some</b> are slow, and a few of them run through the night to distant ports.</p>` +
	`<table><tr><th>Name</th><th>Knots</th></tr><tr><td>Swift</td><td>40</td></tr></table></article></body></html>`

func page(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/robots.txt":
		say(w, "text/plain", "User-agent: ModelContextProtocol\nDisallow: /private")
	case "/article", "/private":
		say(w, "text/html; charset=utf-8", article)
	case "/latin":
		say(w, "text/plain; charset=iso-8859-1", "Gr\xfc\xdfe")
	case "/meta":
		say(w, "text/html", "<html><head><meta charset=windows-1252></head><body><p>Gr\xfc\xdfe</p></body></html>")
	case "/data.json":
		say(w, "application/json", `{"a":1}`)
	case "/long":
		say(w, "text/plain", strings.Repeat("ä", 25))
	case "/untyped":
		say(w, "", "only text")
	case "/image":
		say(w, "image/png", "\x89PNG\r\n\x1a\n")
	case "/paper":
		say(w, "application/pdf", "%PDF-1.7")
	case "/film":
		say(w, "video/mp4", "film")
	case "/moved":
		http.Redirect(w, r, "/data.json", http.StatusFound)
	case "/sneak":
		http.Redirect(w, r, "/private", http.StatusFound)
	case "/deep":
		say(w, "text/html", strings.Repeat("<div>", 100_000))
	default:
		http.NotFound(w, r)
	}
}

func TestFetch(t *testing.T) {
	site := serve(t, page)
	mcptest.Matrix(t, func() *server.Server { return newServer(t, &fetch.Options{}) }, func(t *testing.T, sess *client.Session) {
		for _, tt := range []struct {
			path  string
			more  object
			want  []string
			fails bool
		}{
			{path: "/article", want: []string{"Contents of " + site + "/article:\n", "# Ships", "[fast](" + site + "/fast)", "| Swift | 40"}},
			{path: "/article", more: object{"raw": true}, want: []string{"<td>Swift</td>"}},
			{path: "/latin", want: []string{"Content type text/plain cannot be simplified to markdown, but here is the raw content:\nContents of", "Grüße"}},
			{path: "/meta", want: []string{"Grüße"}},
			{path: "/data.json", want: []string{`{"a":1}`}},
			{path: "/moved", want: []string{"Contents of " + site + "/moved:\n" + `{"a":1}`}},
			{path: "/untyped", want: []string{"only text"}},
			{path: "/long", more: object{"max_length": 10}, want: []string{":\n" + strings.Repeat("ä", 10) + "\n\n<error>Content truncated. Call the fetch tool with a start_index of 10 to get more content.</error>"}},
			{path: "/long", more: object{"max_length": 10, "start_index": 15}, want: []string{":\n" + strings.Repeat("ä", 10)}},
			{path: "/long", more: object{"start_index": 25}, want: []string{"<error>No more content available.</error>"}},
			{path: "/long", more: object{"max_length": 1_000_000}, want: []string{"max_length"}, fails: true},
			{path: "/long", more: object{"start_index": -1}, want: []string{"start_index"}, fails: true},
			{path: "/none", want: []string{"Failed to fetch " + site + "/none - status code 404"}, fails: true},
			{path: "/film", want: []string{"video/mp4"}, fails: true},
			{path: "/private", want: []string{"does not allow programs", "prompt fetch"}, fails: true},
			{path: "/sneak", want: []string{"does not allow programs"}, fails: true},
			{path: "/deep", want: []string{"raw=true"}, fails: true},
		} {
			args := object{"url": site + tt.path}
			maps.Copy(args, tt.more)
			result, text := call(t, sess, args)
			if result.IsError != tt.fails {
				t.Errorf("%v: got error %t, want %t: %s", args, result.IsError, tt.fails, text)
			}
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("%v: got %q, want it to have %q", args, text, want)
				}
			}
		}
	})
}

func TestAttachments(t *testing.T) {
	t.Parallel()
	site := serve(t, page)
	sess := mcptest.Pair(t, newServer(t, &fetch.Options{}), nil)
	result, _ := call(t, sess, object{"url": site + "/image"})
	if c := result.Content[0]; c.Type != "image" || c.MIMEType != "image/png" || !bytes.HasPrefix(c.Data, []byte("\x89PNG")) {
		t.Errorf("got %+v, want the image", c)
	}
	result, _ = call(t, sess, object{"url": site + "/paper"})
	if c := result.Content[0]; c.Resource == nil || c.Resource.URI != site+"/paper" || c.Resource.MIMEType != "application/pdf" || string(c.Resource.Blob) != "%PDF-1.7" {
		t.Errorf("got %+v, want the document", c)
	}
}

func TestPrompt(t *testing.T) {
	t.Parallel()
	site := serve(t, page)
	sess := mcptest.Pair(t, newServer(t, &fetch.Options{}), nil)
	for url, want := range map[string][2]string{
		site + "/private": {"Contents of " + site + "/private", "A ferry carries people"}, // users may
		site + "/none":    {"Failed to fetch the page", "status code 404"},
		"file:///etc":     {"Failed to fetch the page", "http://"},
	} {
		got, err := sess.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "fetch", Arguments: map[string]string{"url": url}}, nil)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if got.Description != want[0] || !strings.Contains(got.Messages[0].Content.Text, want[1]) {
			t.Errorf("%s: got %+v, want %q", url, got, want)
		}
	}
}

func TestRobots(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status int
		ignore bool
		want   bool
	}{{404, false, true}, {403, false, true}, {503, false, false}, {503, true, true}, {302, false, true}} {
		site := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/robots.txt" {
				say(w, "text/plain", "page")
				return
			}
			w.Header().Set("Location", "/robots.txt")
			w.WriteHeader(tt.status)
		})
		sess := mcptest.Pair(t, newServer(t, &fetch.Options{IgnoreRobots: tt.ignore}), nil)
		if result, text := call(t, sess, object{"url": site}); result.IsError == tt.want {
			t.Errorf("status %d: got error %t, want %t: %s", tt.status, result.IsError, !tt.want, text)
		}
	}
}

func TestCache(t *testing.T) {
	t.Parallel()
	var full, short, robots atomic.Int32
	site := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/robots.txt":
			robots.Add(1)
			http.NotFound(w, r)
		case r.Header.Get("If-None-Match") == `"1"`:
			short.Add(1)
			w.WriteHeader(http.StatusNotModified)
		default:
			full.Add(1)
			w.Header().Set("ETag", `"1"`)
			say(w, "text/plain", "page")
		}
	})
	sess := mcptest.Pair(t, newServer(t, &fetch.Options{}), nil)
	for range 3 {
		if _, text := call(t, sess, object{"url": site}); !strings.HasSuffix(text, ":\npage") {
			t.Errorf("got %q, want the page", text)
		}
	}
	if got, want := fmt.Sprint(full.Load(), short.Load(), robots.Load()), "1 2 1"; got != want {
		t.Errorf("full, short, robots = %s, want %s", got, want)
	}
}

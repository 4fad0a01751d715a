package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/transport"
)

// A library is a server whose results say when they were made. It counts what it
// is asked for.
type library struct {
	fakeHTTP
	hints  string // the members about caching
	asked  map[string]int
	failed error          // of the carrier
	refuse *jsonrpc.Error // of the server
	recv   transport.Receiver
	during func() // called while a request is under way
}

func newLibrary(hints string) *library {
	lib := &library{hints: hints, asked: map[string]int{}}
	lib.answer = lib.reply
	return lib
}

func (lib *library) Open(ctx context.Context, recv transport.Receiver) (transport.RoundTripper, error) {
	lib.recv = recv
	return lib.fakeHTTP.Open(ctx, recv)
}

func (lib *library) reply(m *transport.Outgoing) (transport.Response, error) {
	params, _ := m.Params.(json.RawMessage)
	var p struct{ Cursor, URI string }
	_ = json.Unmarshal(params, &p)
	lib.asked[m.Method+p.Cursor+p.URI]++
	n := lib.asked[m.Method+p.Cursor+p.URI]
	if lib.during != nil {
		lib.during()
	}
	switch {
	case m.Method == mcp.MethodServerDiscover && n == 1:
		return ok(discovery(r5)), nil
	case lib.failed != nil:
		return transport.Response{}, lib.failed
	case lib.refuse != nil:
		return transport.Response{Status: 200, Message: jsonrpc.Message{Error: lib.refuse}}, nil
	}
	version := fmt.Sprintf("%d", n)
	bodies := map[string]string{
		mcp.MethodServerDiscover:         `"supportedVersions":["` + r5 + `"],"capabilities":{},"instructions":"` + version + `"`,
		mcp.MethodToolsList:              `"tools":[{"name":"` + version + `","inputSchema":{}}],"nextCursor":"` + p.Cursor + `+"`,
		mcp.MethodPromptsList:            `"prompts":[{"name":"` + version + `"}]`,
		mcp.MethodResourcesList:          `"resources":[{"uri":"x:","name":"` + version + `"}]`,
		mcp.MethodResourcesTemplatesList: `"resourceTemplates":[{"uriTemplate":"x:","name":"` + version + `"}]`,
		mcp.MethodResourcesRead:          `"contents":[{"uri":"x:","text":"` + version + `"}]`,
		mcp.MethodToolsCall:              `"content":[]`,
	}
	return ok(`{"resultType":"complete",` + bodies[m.Method] + lib.hints + `}`), nil
}

func (lib *library) notify(method, params string) {
	lib.recv.Receive(jsonrpc.Message{Method: method, Params: json.RawMessage(params)}, jsonrpc.ID{})
}

// reads are the calls whose results can be kept. Each returns what the library
// has said.
var reads = map[string]func(ctx context.Context, s *client.Session) (string, error){
	mcp.MethodServerDiscover: func(ctx context.Context, s *client.Session) (string, error) {
		r, err := s.Discover(ctx)
		if err != nil {
			return "", err
		}
		return r.Instructions, nil
	},
	mcp.MethodToolsList: func(ctx context.Context, s *client.Session) (string, error) {
		r, err := s.ListTools(ctx, nil)
		if err != nil {
			return "", err
		}
		return r.Tools[0].Name, nil
	},
	mcp.MethodPromptsList: func(ctx context.Context, s *client.Session) (string, error) {
		r, err := s.ListPrompts(ctx, nil)
		if err != nil {
			return "", err
		}
		return r.Prompts[0].Name, nil
	},
	mcp.MethodResourcesList: func(ctx context.Context, s *client.Session) (string, error) {
		r, err := s.ListResources(ctx, nil)
		if err != nil {
			return "", err
		}
		return r.Resources[0].Name, nil
	},
	mcp.MethodResourcesTemplatesList: func(ctx context.Context, s *client.Session) (string, error) {
		r, err := s.ListResourceTemplates(ctx, nil)
		if err != nil {
			return "", err
		}
		return r.ResourceTemplates[0].Name, nil
	},
	mcp.MethodResourcesRead: func(ctx context.Context, s *client.Session) (string, error) {
		r, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: "x:"}, nil)
		if err != nil {
			return "", err
		}
		return r.Contents[0].Text, nil
	},
}

// count tells how often the library was asked for a method since it was connected.
func (lib *library) count(method string) int {
	n := 0
	for key, times := range lib.asked {
		if strings.HasPrefix(key, method) {
			n += times
		}
	}
	if method == mcp.MethodServerDiscover {
		n-- // by Connect
	}
	return n
}

const minute = `,"ttlMs":60000,"cacheScope":"private"`

func TestFreshResultsAreKept(t *testing.T) {
	mcptest.Proves(t, "CACHE-TTL-POSITIVE", "CACHE-STALE-REFETCH", "CACHE-NOT-POLL-INTERVAL", "CACHE-TTL-WITHOUT-LISTCHANGED")
	for method, read := range reads {
		bubble(t, method, func(t *testing.T) {
			lib := newLibrary(minute)
			sess := connect(t, lib, nil)
			first, err := read(t.Context(), sess)
			if err != nil {
				t.Fatal(err)
			}
			<-time.After(time.Minute - time.Millisecond)
			if again, err := read(t.Context(), sess); err != nil || again != first || lib.count(method) != 1 {
				t.Errorf("got %q, %v after %d requests; want %q after one", again, err, lib.count(method), first)
			}
			<-time.After(time.Hour)
			if lib.count(method) != 1 {
				t.Error("the server was asked without need")
			}
			if again, err := read(t.Context(), sess); err != nil || again == first || lib.count(method) != 2 {
				t.Errorf("got %q, %v after %d requests, want a new result", again, err, lib.count(method))
			}
		})
	}
}

func TestWhatIsNotFreshIsNotKept(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "CACHE-TTL-ZERO", "CACHE-TTL-ABSENT", "CACHE-TTL-NEGATIVE")
	for _, hints := range []string{
		``, `,"ttlMs":0`, `,"ttlMs":-1`, `,"ttlMs":null`, `,"cacheScope":"public"`,
	} {
		lib := newLibrary(hints)
		sess := connect(t, lib, nil)
		for i := range 2 {
			if _, err := reads[mcp.MethodToolsList](t.Context(), sess); err != nil || lib.count(mcp.MethodToolsList) != i+1 {
				t.Errorf("hints %q: %v after %d requests, want each call to ask", hints, err, lib.count(mcp.MethodToolsList))
			}
		}
	}
}

func TestPagesAreKeptByThemselves(t *testing.T) {
	mcptest.Proves(t, "CACHE-KEY-METHOD-PARAMS", "CACHE-PAGE-INDEPENDENT", "CACHE-PAGE-REFETCH", "CACHE-PAGE-INVALID-CURSOR")
	bubble(t, "pages", func(t *testing.T) {
		lib := newLibrary(minute)
		sess := connect(t, lib, nil)
		page := func(cursor *string) {
			t.Helper()
			list, err := sess.ListTools(t.Context(), &mcp.ListToolsParams{Cursor: cursor})
			if err != nil {
				t.Fatal(err)
			}
			want := "+"
			if cursor != nil {
				want = *cursor + "+"
			}
			if *list.NextCursor != want {
				t.Errorf("page %q ends with %q: it is another page", want, *list.NextCursor)
			}
		}
		cursors := []*string{nil, mcp.Ptr("a"), mcp.Ptr("b")}
		for _, c := range cursors {
			page(c)
			<-time.After(25 * time.Second)
		}
		for _, c := range cursors { // the first is 75 seconds old by now
			page(c)
		}
		if got := [3]int{lib.asked["tools/list"], lib.asked["tools/lista"], lib.asked["tools/listb"]}; got != [3]int{2, 1, 1} {
			t.Errorf("pages were asked for %v times, want only the first again", got)
		}
		for _, uri := range []string{"x:1", "x:2", "x:1"} {
			if _, err := sess.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}, nil); err != nil {
				t.Fatal(err)
			}
		}
		if lib.asked["resources/readx:1"] != 1 || lib.asked["resources/readx:2"] != 1 {
			t.Errorf("asked %v", lib.asked)
		}
		lib.refuse = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no such cursor"}
		if _, err := sess.ListTools(t.Context(), &mcp.ListToolsParams{Cursor: mcp.Ptr("c")}); err == nil {
			t.Error("no error")
		}
		lib.refuse = nil
		page(nil)
		page(cursors[1])
		if lib.asked["tools/list"] != 3 || lib.asked["tools/lista"] != 2 {
			t.Errorf("pages were kept after a cursor was refused: %v", lib.asked)
		}
	})
}

// Who needs a list without doubles and gaps clears what is kept, and gets all of
// it anew from the first page on.
func TestListsAreReadAnewAsAWhole(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "CACHE-PAGE-SNAPSHOT")
	lib := newLibrary(minute)
	sess := connect(t, lib, nil)
	read := func(pages int) {
		for _, err := range sess.Tools(t.Context()) {
			if pages--; err != nil || pages == 0 {
				return
			}
		}
	}
	read(3)
	read(3)
	sess.ClearCache()
	read(4)
	want := map[string]int{"tools/list": 2, "tools/list+": 2, "tools/list++": 2, "tools/list+++": 1, "server/discover": 1}
	if !maps.Equal(lib.asked, want) {
		t.Errorf("asked %v, want %v", lib.asked, want)
	}
}

func TestNotificationsEndFreshness(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "CACHE-NOTIFY-INVALIDATES")
	tests := []struct {
		method, params string
		ends           string // the methods concerned
	}{
		{mcp.NotificationToolsListChanged, `{}`, "tools/list"},
		{mcp.NotificationPromptsListChanged, `{}`, "prompts/list"},
		{mcp.NotificationResourcesListChanged, `{}`, "resources/list resources/templates/list"},
		{mcp.NotificationResourcesUpdated, `{"uri":"x:"}`, "resources/read"},
		{mcp.NotificationResourcesUpdated, `{"uri":"y:"}`, ""},
		{mcp.NotificationSubscriptionsAcknowledged, `{}`, "server/discover tools/list prompts/list resources/list resources/templates/list resources/read"},
	}
	for _, tt := range tests {
		lib := newLibrary(minute)
		sess := connect(t, lib, nil)
		all := func() {
			for method, read := range reads {
				if _, err := read(t.Context(), sess); err != nil {
					t.Errorf("%s: %v", method, err)
				}
			}
		}
		all()
		lib.notify(tt.method, tt.params)
		all()
		for method := range reads {
			want := 1
			if strings.Contains(" "+tt.ends+" ", " "+method+" ") {
				want = 2
			}
			if got := lib.count(method); got != want {
				t.Errorf("%s %s: %s was asked for %d times, want %d", tt.method, tt.params, method, got, want)
			}
		}
	}
}

// An answer that was under way when the notification came may be the old one.
func TestAnswersUnderWayAreNotKept(t *testing.T) {
	t.Parallel()
	lib := newLibrary(minute)
	sess := connect(t, lib, nil)
	lib.during = func() { lib.notify(mcp.NotificationToolsListChanged, `{}`) }
	for range 2 {
		if _, err := reads[mcp.MethodToolsList](t.Context(), sess); err != nil {
			t.Fatal(err)
		}
	}
	if got := lib.count(mcp.MethodToolsList); got != 2 {
		t.Errorf("%d requests, want 2", got)
	}
}

func TestPrivateResultsAreNotShared(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "CACHE-SCOPE-PRIVATE", "CACHE-SCOPE-PUBLIC")
	type user struct{}
	as := func(ctx context.Context, name string) context.Context { return context.WithValue(ctx, user{}, name) }
	opts := &client.Options{Cache: client.Cache{Partition: func(ctx context.Context) string { return fmt.Sprint(ctx.Value(user{})) }}}
	for hints, want := range map[string]int{
		`,"ttlMs":60000,"cacheScope":"public"`:  1,
		`,"ttlMs":60000,"cacheScope":"private"`: 2,
		`,"ttlMs":60000,"cacheScope":"other"`:   2,
		`,"ttlMs":60000`:                        2,
	} {
		lib := newLibrary(hints)
		sess := connect(t, lib, opts)
		for _, name := range []string{"ann", "bob", "ann", "bob"} {
			if _, err := reads[mcp.MethodResourcesRead](as(t.Context(), name), sess); err != nil {
				t.Fatal(err)
			}
		}
		if got := lib.count(mcp.MethodResourcesRead); got != want {
			t.Errorf("hints %s: %d requests, want %d", hints, got, want)
		}
		other := connect(t, lib, opts) // sessions have nothing in common
		if _, err := reads[mcp.MethodResourcesRead](as(t.Context(), "ann"), other); err != nil || lib.count(mcp.MethodResourcesRead) <= want {
			t.Errorf("another session was served what was kept: %v", err)
		}
	}
}

// Answers to the server, and what else asks anew.
func TestCallsThatAlwaysAsk(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "CACHE-MRTR-RETRY")
	read := func(p *mcp.ReadResourceParams, o *client.CallOptions) func(*client.Session) error {
		return func(s *client.Session) error { _, err := s.ReadResource(t.Context(), p, o); return err }
	}
	tests := map[string]func(*client.Session) error{
		"answers":  read(&mcp.ReadResourceParams{URI: "x:", InputResponses: mcp.InputResponses{}}, nil),
		"state":    read(&mcp.ReadResourceParams{URI: "x:", RequestState: mcp.Ptr("")}, nil),
		"metadata": read(&mcp.ReadResourceParams{URI: "x:", Meta: mcp.Meta{"a": json.RawMessage("1")}}, nil),
		"reload":   read(&mcp.ReadResourceParams{URI: "x:"}, &client.CallOptions{Reload: true}),
		"raw": func(s *client.Session) error {
			_, err := s.Call(t.Context(), mcp.MethodResourcesRead, json.RawMessage(`{"uri":"x:"}`), nil)
			return err
		},
		"cleared": func(s *client.Session) error {
			s.ClearCache()
			return read(&mcp.ReadResourceParams{URI: "x:"}, nil)(s)
		},
	}
	for name, call := range tests {
		lib := newLibrary(minute)
		sess := connect(t, lib, nil)
		for i := range 2 {
			if err := call(sess); err != nil || lib.count(mcp.MethodResourcesRead) != i+1 {
				t.Errorf("%s: %v after %d requests, want each call to ask", name, err, lib.count(mcp.MethodResourcesRead))
			}
		}
	}
	off := newLibrary(minute)
	sess := connect(t, off, &client.Options{Cache: client.Cache{MaxBytes: -1}})
	for range 2 {
		_, _ = reads[mcp.MethodResourcesRead](t.Context(), sess)
	}
	if got := off.count(mcp.MethodResourcesRead); got != 2 {
		t.Errorf("%d requests without a cache, want 2", got)
	}
}

// What the server does not know makes its list doubtful.
func TestUnknownToolsMakeTheListStale(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "CACHE-EARLY-REFETCH")
	lib := newLibrary(minute)
	sess := connect(t, lib, nil)
	list := func() {
		if _, err := reads[mcp.MethodToolsList](t.Context(), sess); err != nil {
			t.Fatal(err)
		}
	}
	list()
	if err := callTool(t, sess, "a", `{}`); err != nil {
		t.Fatal(err)
	}
	list()
	lib.refuse = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "unknown tool"}
	if err := callTool(t, sess, "a", `{}`); err == nil {
		t.Fatal("no error")
	}
	lib.refuse = nil
	list()
	if got := lib.count(mcp.MethodToolsList); got != 2 {
		t.Errorf("the list was asked for %d times, want 2", got)
	}
}

func TestStaleResultsOnErrors(t *testing.T) {
	mcptest.Proves(t, "CACHE-STALE-ON-ERROR")
	for _, allowed := range []bool{false, true} {
		bubble(t, fmt.Sprint(allowed), func(t *testing.T) {
			lib := newLibrary(minute)
			sess := connect(t, lib, &client.Options{Cache: client.Cache{StaleOnError: allowed}})
			read := reads[mcp.MethodResourcesRead]
			if _, err := read(t.Context(), sess); err != nil {
				t.Fatal(err)
			}
			<-time.After(time.Hour)
			lib.failed = errors.New("no route to host")
			got, err := read(t.Context(), sess)
			if allowed != (err == nil) || allowed && got != "1" {
				t.Errorf("got %q, %v", got, err)
			}
			lib.failed, lib.refuse = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "broken"}
			if got, err := read(t.Context(), sess); err == nil {
				t.Errorf("got %q when the server refused", got)
			}
		})
	}
}

// The memory of a cache is bounded, and what was used last stays.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	lib := newLibrary(minute + `,"more":"` + strings.Repeat("x", 1000) + `"`)
	sess := connect(t, lib, &client.Options{Cache: client.Cache{MaxBytes: 10_000}})
	read := func(i int) {
		if _, err := sess.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: fmt.Sprintf("x:%d", i)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 100 {
		read(0)
		read(i)
	}
	for i := range 3 {
		read(97 + i)
	}
	read(1)
	if lib.asked["resources/readx:0"] != 1 || lib.asked["resources/readx:98"] != 1 || lib.asked["resources/readx:1"] != 2 {
		t.Errorf("asked for x:0 %d times, x:98 %d times, x:1 %d times; want 1, 1, 2",
			lib.asked["resources/readx:0"], lib.asked["resources/readx:98"], lib.asked["resources/readx:1"])
	}
	huge := newLibrary(minute + `,"more":"` + strings.Repeat("x", 5000) + `"`)
	sess = connect(t, huge, &client.Options{Cache: client.Cache{MaxBytes: 10_000}})
	read(0)
	read(0)
	if huge.asked["resources/readx:0"] != 2 {
		t.Error("a result of half the cache was kept")
	}
}

package clock_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/apps/servers/clock"
	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
	"github.com/ferrymcp/ferry/transport"
)

// connect serves srv over a pipe and returns a client's session.
func connect(t *testing.T, srv *server.Server) *client.Session {
	t.Helper()
	near, far := transport.Pipe()
	var wg sync.WaitGroup
	wg.Go(func() { _ = srv.ServeConn(t.Context(), far) })
	c := client.New(mcp.Implementation{Name: "test", Version: "1"}, nil)
	sess, err := c.Connect(t.Context(), transport.Dial(func(context.Context) (transport.Conn, error) { return near, nil }))
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() {
		_ = sess.Close()
		_ = srv.Close()
		wg.Wait()
	})
	return sess
}

func TestServer(t *testing.T) {
	t.Parallel()
	srv, err := clock.New(&clock.Options{
		Local: "europe/warsaw",
		Now:   func() time.Time { return time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC) },
	})
	if err != nil {
		t.Fatal(err)
	}
	sess := connect(t, srv)

	var names []string
	for tool, err := range sess.Tools(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
		if !strings.Contains(tool.Description, "Europe/Warsaw") {
			t.Errorf("description of %s does not name the local zone: %s", tool.Name, tool.Description)
		}
		if a := tool.Annotations; a == nil || !a.ReadOnlyHint || a.OpenWorldHint == nil || *a.OpenWorldHint {
			t.Errorf("annotations of %s: %+v", tool.Name, tool.Annotations)
		}
	}
	if got := strings.Join(names, " "); got != "convert_time get_current_time" && got != "get_current_time convert_time" {
		t.Errorf("tools are %s", got)
	}

	for _, tt := range []struct {
		tool, arguments, want string
		isError               bool
	}{
		{
			"get_current_time", `{"timezone":"Asia/Tokyo"}`,
			`{"timezone":"Asia/Tokyo","datetime":"2026-01-15T21:00:00+09:00","day_of_week":"Thursday","is_dst":false}`, false,
		},
		{
			"convert_time", `{"source_timezone":"Europe/Warsaw","time":"16:30","target_timezone":"UTC"}`,
			`{"source":{"timezone":"Europe/Warsaw","datetime":"2026-01-15T16:30:00+01:00","day_of_week":"Thursday","is_dst":false},` +
				`"target":{"timezone":"UTC","datetime":"2026-01-15T15:30:00+00:00","day_of_week":"Thursday","is_dst":false},"time_difference":"-1.0h"}`, false,
		},
		{"get_current_time", `{"timezone":"Asia/Tokio"}`, `unknown time zone "Asia/Tokio": did you mean Asia/Tokyo?`, true},
		{"get_current_time", `{}`, "timezone", true},
	} {
		result, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: tt.tool, Arguments: json.RawMessage(tt.arguments)}, nil)
		if err != nil {
			t.Errorf("%s %s: %v", tt.tool, tt.arguments, err)
			continue
		}
		text := result.Content[0].Text
		if !tt.isError {
			text = compact(t, text)
		}
		if result.IsError != tt.isError || !tt.isError && text != tt.want || !strings.Contains(text, tt.want) {
			t.Errorf("%s %s:\ngot  %s (error %t)\nwant %s (error %t)", tt.tool, tt.arguments, text, result.IsError, tt.want, tt.isError)
		}
		if !tt.isError && string(result.StructuredContent) != tt.want {
			t.Errorf("%s %s: structured content is %s, want %s", tt.tool, tt.arguments, result.StructuredContent, tt.want)
		}
	}
}

// compact takes the blanks out of a text that is JSON with an indentation of two.
func compact(t *testing.T, text string) string {
	t.Helper()
	if !strings.HasPrefix(text, "{\n  \"") {
		t.Errorf("the text is not indented: %s", text)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestNew(t *testing.T) {
	t.Parallel()
	if _, err := clock.New(nil); err != nil {
		t.Errorf("New(nil): %v", err)
	}
	if _, err := clock.New(&clock.Options{Local: "Mars/Olympus"}); err == nil || !strings.Contains(err.Error(), "local time zone") {
		t.Errorf("New with a zone on Mars: got error %v", err)
	}
}

func ExampleNew() {
	srv, err := clock.New(&clock.Options{Local: "Europe/Paris"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	// srv.ServeStdio(ctx) would serve it to a client that started this program.
	fmt.Println(srv.Info().Name)
	// Output: time
}

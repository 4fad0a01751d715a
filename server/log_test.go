package server_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

func TestLogging(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "LOG-MESSAGE-SHAPE", "LOG-SETLEVEL-FILTER", "LOG-NO-OPTIN-NO-EMIT", "LOG-PER-REQUEST-EMIT", "LOG-INVALID-LEVEL-SETLEVEL-32602",
		"LOG-DEFAULT-SERVER-CHOICE")
	srv := newServer(t, nil)
	server.AddTool(srv, mcp.Tool{Name: "log"}, func(ctx context.Context, c *server.Call, _ struct{}) (string, error) {
		if err := c.Log(ctx, mcp.LevelError, "l", func() {}); err == nil && c.ClientInfo().Name == "c" {
			return "", fmt.Errorf("a function was logged")
		}
		return "", c.Log(ctx, mcp.LevelNotice, "l", map[string]int{"a": 1})
	})
	d := talk(t, srv)
	d.open("2025-11-25")
	call := func(meta string, logged bool) {
		t.Helper()
		d.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"log"` + meta + `}}`)
		if logged {
			d.want(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"notice","logger":"l","data":{"a":1}}}`)
		}
		if m := d.read(); m.Error != nil || strings.Contains(string(m.Result), "isError") {
			t.Errorf("got %s %v", m.Result, m.Error)
		}
	}
	call("", true) // info is the default
	for level, logged := range map[string]bool{"error": false, "notice": true, "debug": true} {
		result[mcp.EmptyResult](t, d.ask("logging/setLevel", `"level":"`+level+`"`))
		call("", logged)
		asked := strings.Replace(modernMeta, `{"io`, `{"io.modelcontextprotocol/logLevel":"`+level+`","io`, 1)
		call(","+asked, logged)
	}
	call(","+modernMeta, false)
	code(t, d.ask("logging/setLevel", `"level":"loud"`), jsonrpc.CodeInvalidParams)
	code(t, d.ask("logging/setLevel", `"level":5`), jsonrpc.CodeInvalidParams)
}

// logged calls a tool of its own server in a session and returns what came
// before the result.
func logged(t *testing.T, opts *server.Options, level, meta string, tool func(ctx context.Context, c *server.Call) error) []string {
	t.Helper()
	srv := newServer(t, opts)
	server.AddTool(srv, mcp.Tool{Name: "log"}, func(ctx context.Context, c *server.Call, _ struct{}) (string, error) {
		return "", tool(ctx, c)
	})
	d := talk(t, srv)
	if meta == "" {
		d.open("2025-11-25")
		result[mcp.EmptyResult](t, d.ask("logging/setLevel", `"level":"`+level+`"`))
	}
	d.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"log"` + meta + `}}`)
	var got []string
	for {
		m := d.read()
		if m.Kind() == jsonrpc.Response {
			return got
		}
		got = append(got, string(m.Params))
	}
}

func TestLogHandler(t *testing.T) {
	t.Parallel()
	got := logged(t, nil, "debug", "", func(ctx context.Context, c *server.Call) error {
		log := slog.New(c.LogHandler("db"))
		log.DebugContext(ctx, "opened", "path", "/x", "level", 3)
		log = log.With("n", 1).WithGroup("query").With("rows", 2)
		log.InfoContext(ctx, "read", slog.Group("took", "ms", 1.5), "err", errors.New("late"))
		for _, level := range []slog.Level{-8, 2, slog.LevelWarn, slog.LevelError, 12, 16, 20, 99} {
			slog.New(c.LogHandler("")).Log(ctx, level, "l")
		}
		return nil
	})
	want := []string{
		`{"level":"debug","logger":"db","data":{"msg":"opened","path":"/x","level":3}}`,
		`{"level":"info","logger":"db","data":{"msg":"read","n":1,"query":{"rows":2,"took":{"ms":1.5},"err":"late"}}}`,
	}
	for _, level := range []string{"debug", "notice", "warning", "error", "critical", "alert", "emergency", "emergency"} {
		want = append(want, `{"level":"`+level+`","data":{"msg":"l"}}`)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	got = logged(t, nil, "error", "", func(ctx context.Context, c *server.Call) error {
		h := c.LogHandler("")
		if h.Enabled(ctx, slog.LevelWarn) || !h.Enabled(ctx, slog.LevelError) {
			t.Error("a level is enabled that the client does not want, or the other way round")
		}
		return h.Handle(ctx, slog.Record{Level: slog.LevelInfo})
	})
	if len(got) > 0 {
		t.Errorf("got %s, want nothing", got)
	}
}

func TestLogRate(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "LOG-RATE-LIMIT")
	many := func(ctx context.Context, c *server.Call) error {
		for i := range 5 {
			if err := c.Log(ctx, mcp.LevelError, "", i); err != nil {
				return err
			}
		}
		return nil
	}
	dropped := `{"level":"error","data":"3 log messages were left out: more than 2 in a second"}`
	stateless := "," + strings.Replace(modernMeta, `{"io`, `{"io.modelcontextprotocol/logLevel":"debug","io`, 1)
	t.Run("stateless", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			got := logged(t, &server.Options{LogRate: 2}, "", stateless, many)
			want := []string{`{"level":"error","data":0}`, `{"level":"error","data":1}`, dropped}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	})
	t.Run("session", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			got := logged(t, &server.Options{LogRate: 2}, "debug", "", func(ctx context.Context, c *server.Call) error {
				if err := many(ctx, c); err != nil {
					return err
				}
				<-time.After(time.Second)
				return c.Log(ctx, mcp.LevelError, "", "late")
			})
			want := []string{`{"level":"error","data":0}`, `{"level":"error","data":1}`, dropped, `{"level":"error","data":"late"}`}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	})
	t.Run("no limit", func(t *testing.T) {
		t.Parallel()
		if got := logged(t, &server.Options{LogRate: -1}, "debug", "", many); len(got) != 5 {
			t.Errorf("got %d messages, want 5", len(got))
		}
	})
}

// TestLoggingCannotBeSetUp has middleware that fails when the level is set.
func TestLoggingCannotBeSetUp(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "LOG-CONFIG-ERROR-32603")
	srv := newServer(t, nil)
	srv.Use(func(next server.Handler) server.Handler {
		return func(ctx context.Context, c *server.Call) (any, error) {
			if c.Method == mcp.MethodLoggingSetLevel {
				return nil, errors.New("the disk of the logs is full")
			}
			return next(ctx, c)
		}
	})
	for _, revision := range revisions {
		d := talk(t, srv)
		d.open(revision)
		m := d.ask("logging/setLevel", `"level":"info"`)
		code(t, m, jsonrpc.CodeInternal)
		if m.Error != nil && strings.Contains(m.Error.Message, "disk") {
			t.Errorf("%s: the client is told %q", revision, m.Error.Message)
		}
	}
}

func TestLogLevelOfStatelessRequests(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "LOG-SETLEVEL-REMOVED", "LOG-INVALID-LEVEL-META-32602")
	d := talk(t, newServer(t, nil))
	code(t, d.askModern("logging/setLevel", `"level":"info"`), jsonrpc.CodeMethodNotFound)
	for _, level := range []string{`"loud"`, `""`, `5`, `{}`} {
		meta := strings.Replace(modernMeta, `{"io`, `{"io.modelcontextprotocol/logLevel":`+level+`,"io`, 1)
		code(t, d.ask("tools/list", meta), jsonrpc.CodeInvalidParams)
	}
}

// TestSessionLog logs outside of requests, before and after a level is set and after
// the session is over.
func TestSessionLog(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "LOG-MESSAGE-SHAPE", "LOG-SETLEVEL-FILTER")
	srv := newServer(t, nil)
	var sess *server.Session
	server.AddTool(srv, mcp.Tool{Name: "keep"}, func(_ context.Context, c *server.Call, _ struct{}) (string, error) {
		sess = c.Session()
		return "", nil
	})
	if err := sess.Log(mcp.LevelError, "", "nobody hears it"); err != nil {
		t.Errorf("log without a session: %v", err)
	}
	d := talk(t, srv)
	d.open("2025-11-25")
	d.ask("tools/call", `"name":"keep"`)
	for _, step := range []struct {
		set, level mcp.LoggingLevel
		heard      bool
	}{{"", mcp.LevelInfo, true}, {"", mcp.LevelDebug, false}, {mcp.LevelError, mcp.LevelWarning, false}, {mcp.LevelDebug, mcp.LevelDebug, true}} {
		if step.set != "" {
			d.ask("logging/setLevel", `"level":"`+string(step.set)+`"`)
		}
		if err := sess.Log(step.level, "l", []int{1}); err != nil {
			t.Errorf("log at %s: %v", step.level, err)
		}
		if step.heard {
			d.want(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"` + string(step.level) + `","logger":"l","data":[1]}}`)
		}
	}
	d.ask("ping", "")
	if err := sess.Log(mcp.LevelError, "", func() {}); err == nil {
		t.Error("a function was logged")
	}
	sess.Close()
	if err := sess.Log(mcp.LevelError, "", "over"); err != nil {
		t.Errorf("log after the end: %v", err)
	}
}

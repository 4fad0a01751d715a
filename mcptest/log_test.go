package mcptest_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
)

func TestLogMessages(t *testing.T) {
	mcptest.Proves(t, "LOG-SETLEVEL", "LOG-LEVELS", "LOG-CAP-DECLARE-INIT", "LOG-CAP-DECLARE-DISCOVER", "LOG-CONTEXT-AND-NAMES")
	heard := make(chan mcp.LoggingMessageParams, 100)
	grid := mcptest.Grid{
		Server: everything,
		Client: func() *client.Options {
			return &client.Options{OnNotification: func(method string, params json.RawMessage) {
				var p mcp.LoggingMessageParams
				if err := json.Unmarshal(params, &p); method == mcp.NotificationMessage && err == nil {
					heard <- p
				}
			}}
		},
	}
	grid.Run(t, func(t *testing.T, sess *client.Session, _ mcptest.Carrier) {
		if sess.ServerCapabilities().Logging == nil {
			t.Error("the server does not declare that it logs")
		}
		hear := func(want mcp.LoggingLevel, data string) {
			t.Helper()
			select {
			case got := <-heard:
				if got.Level != want || got.Logger != "everything" || string(got.Data) != data {
					t.Errorf("got %s %s %s, want %s everything %s", got.Level, got.Logger, got.Data, want, data)
				}
			case <-time.After(10 * time.Second):
				t.Errorf("no message came, want %s", data)
			}
		}
		for _, level := range []mcp.LoggingLevel{mcp.LevelDebug, mcp.LevelWarning, mcp.LevelError, mcp.LevelWarning} {
			if err := sess.SetLogLevel(t.Context(), level); err != nil {
				t.Fatal(err)
			}
			call(t, sess, "log", `{}`)
			if level == mcp.LevelDebug {
				hear(mcp.LevelDebug, `{"msg":"looked"}`)
			}
			if level != mcp.LevelError {
				hear(mcp.LevelWarning, `{"msg":"found","n":3}`)
			}
		}
	})
}

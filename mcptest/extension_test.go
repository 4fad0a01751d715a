package mcptest_test

import (
	"slices"
	"testing"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

// TestExtensionsAreDeclared declares an extension. Capabilities of the two oldest
// revisions do not name any.
func TestExtensionsAreDeclared(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "EXT-ADVERTISE-INITIALIZE", "VER-EXT-EMPTY-SETTINGS", "EXT-OFF-BY-DEFAULT", "EXT-ADVERTISE")
	const extension = "com.example/clock"
	mcptest.Matrix(t, func() *server.Server {
		srv := server.New(mcp.Implementation{Name: "extended", Version: "1"}, nil)
		srv.Extend(extension, map[string]int{"hands": 3})
		srv.Extend("com.example/empty", nil)
		return srv
	}, func(t *testing.T, sess *client.Session) {
		want := map[string]string{extension: `{"hands":3}`, "com.example/empty": `{}`, "com.example/other": ""}
		for identifier, want := range want {
			if slices.Contains([]string{"2024-11-05", "2025-03-26"}, sess.Revision()) {
				want = ""
			}
			if got := string(sess.ServerCapabilities().Extensions[identifier]); got != want {
				t.Errorf("settings of %s at %s = %q, want %q", identifier, sess.Revision(), got, want)
			}
		}
	})
}

func TestExtendPanics(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "EXT-ID-FORMAT", "VER-EXT-ID-FORMAT")
	for _, c := range []struct {
		identifier string
		settings   any
	}{
		{"clock", nil},
		{"/clock", nil},
		{"com.example/", nil},
		{"com..example/clock", nil},
		{"1com/clock", nil},
		{"com.example-/clock", nil},
		{"com.example/clock/x", nil},
		{"com.example/clock", 3},
		{"com.example/clock", []int{}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Extend(%q, %v) did not panic", c.identifier, c.settings)
				}
			}()
			server.New(mcp.Implementation{Name: "extended", Version: "1"}, nil).Extend(c.identifier, c.settings)
		}()
	}
}

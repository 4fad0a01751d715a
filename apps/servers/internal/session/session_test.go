package session_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/apps/servers/internal/session"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

func TestStore(t *testing.T) {
	t.Parallel()
	srv := server.New(mcp.Implementation{Name: "test", Version: "1"}, nil)
	defer srv.Close()
	var store session.Store[int]
	kept := srv.NewSession(nil)
	*store.Of(kept) = 1
	func() {
		gone := srv.NewSession(nil)
		*store.Of(gone) = 2
		if a, b := *store.Of(kept), *store.Of(gone); a != 1 || b != 2 {
			t.Errorf("got %d and %d, want 1 and 2", a, b)
		}
		gone.Close()
	}()
	for start := time.Now(); store.Len() > 1; runtime.Gosched() {
		runtime.GC()
		if time.Since(start) > 10*time.Second {
			t.Fatalf("%d values are left, want the one of the session that is there", store.Len())
		}
	}
	if *store.Of(kept) != 1 {
		t.Error("the value of a session that is there has gone")
	}
	kept.Close()
}

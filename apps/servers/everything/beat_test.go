package everything_test

import (
	"encoding/json"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/apps/servers/everything"
	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
)

// TestToggles counts what a server sends by itself, in two clients of which one has
// asked for it.
func TestToggles(t *testing.T) {
	t.Parallel()
	for i, revision := range client.Revisions() {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				toggles(t, revision, i > 0, func(d time.Duration) { time.Sleep(d) })
			})
		})
	}
}

func toggles(t *testing.T, revision string, session bool, pass func(time.Duration)) {
	t.Helper()
	srv := everything.New(nil)
	var logs, changes, others atomic.Int32
	count := func(n *atomic.Int32) func(string, json.RawMessage) {
		return func(method string, _ json.RawMessage) {
			switch method {
			case mcp.NotificationMessage:
				n.Add(1)
			case mcp.NotificationResourcesUpdated:
				changes.Add(1)
			}
		}
	}
	sess := mcptest.Pair(t, srv.Server, &client.Options{Revision: revision, OnNotification: count(&logs)})
	mcptest.Pair(t, srv.Server, &client.Options{Revision: revision, OnNotification: count(&others)})
	if err := sess.SetLogLevel(t.Context(), mcp.LevelDebug); err != nil {
		t.Fatal(err)
	}
	sub, err := sess.Subscribe(t.Context(), &mcp.SubscriptionFilter{ResourceSubscriptions: []string{"demo://resource/dynamic/text/1"}})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	logs.Store(0) // of the subscription itself
	expect := func(when string, wantLogs, wantChanges int32) {
		t.Helper()
		synctest.Wait()
		if l, c := logs.Swap(0), changes.Swap(0); l != wantLogs || c != wantChanges {
			t.Errorf("%s: got %d log messages and %d changes, want %d and %d", when, l, c, wantLogs, wantChanges)
		}
	}
	text(t, sess, "toggle-simulated-logging", `{}`)
	every, first := int32(1), int32(1)
	if !session {
		every, first = 0, 8
	}
	expect("at once", first, 0)
	pass(12 * time.Second)
	expect("after 12 s", 2*every, 0)
	text(t, sess, "toggle-subscriber-updates", `{}`)
	pass(10 * time.Second)
	if _, err := sub.Next(t.Context()); err != nil {
		t.Errorf("no change was told: %v", err)
	}
	synctest.Wait()
	if c := changes.Swap(0); c < 2 || c > 3 {
		t.Errorf("got %d changes in 10 s, want 2 or 3", c)
	}
	logs.Store(0)
	if session {
		text(t, sess, "toggle-simulated-logging", `{}`)
	}
	text(t, sess, "toggle-subscriber-updates", `{}`)
	pass(time.Minute)
	expect("when it is off", 0, 0)
	if n := others.Load(); n != 0 {
		t.Errorf("the other client got %d messages", n)
	}
	_ = sub.Close()
	_ = sess.Close()
	_ = srv.Close()
	synctest.Wait()
}

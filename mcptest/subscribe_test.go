package mcptest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

// subscribe opens a subscription that the test closes.
func subscribe(t *testing.T, sess *client.Session, filter mcp.SubscriptionFilter) *client.Subscription {
	t.Helper()
	sub, err := sess.Subscribe(t.Context(), &filter)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sub.Close() })
	return sub
}

// wantChange waits for the next change, which must be the one given.
func wantChange(t *testing.T, sub *client.Subscription, want client.Change) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if got, err := sub.Next(ctx); err != nil || got != want {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

// wantQuiet checks that nothing came.
func wantQuiet(t *testing.T, sub *client.Subscription) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := sub.Next(ctx); err == nil {
		t.Errorf("got %v, want nothing", got)
	}
}

func TestSubscriptions(t *testing.T) {
	mcptest.Proves(t, "TOOL-LIST-CHANGED-NOTIFY", "SUB-LISTEN-REQUEST", "SUB-CONCURRENT", "SUB-CLIENT-CANCEL", "SUB-ONLY-REQUESTED",
		"SUB-ACK-SUBSET", "SUB-FILTER-OMITTED", "RES-SUBSCRIBE-LISTEN")
	mcptest.Matrix(t, everything, func(t *testing.T, sess *client.Session) {
		lists := subscribe(t, sess, mcp.SubscriptionFilter{ToolsListChanged: true})
		notes := subscribe(t, sess, mcp.SubscriptionFilter{ResourceSubscriptions: []string{"note:1", "nothing:here"}})
		both := subscribe(t, sess, mcp.SubscriptionFilter{ToolsListChanged: true, ResourceSubscriptions: []string{"note:1", "letter:ada"}})
		if got := notes.Granted().ResourceSubscriptions; len(got) != 1 || got[0] != "note:1" {
			t.Errorf("granted %v, want [note:1]", got)
		}
		grown := client.Change{Kind: client.ToolsChanged}
		call(t, sess, "grow", `{"name":"grown-`+sess.Revision()+`"}`)
		wantChange(t, lists, grown)
		wantChange(t, both, grown)
		touched := client.Change{Kind: client.ResourceUpdated, URI: "note:1"}
		call(t, sess, "touch", `{"name":"letter:bob"}`)
		call(t, sess, "touch", `{"name":"note:1"}`)
		wantChange(t, notes, touched)
		wantChange(t, both, touched)
		wantQuiet(t, lists)

		_ = notes.Close() // both still follows the note
		call(t, sess, "touch", `{"name":"note:1"}`)
		wantChange(t, both, touched)
		if _, err := notes.Next(t.Context()); !errors.Is(err, client.ErrUnsubscribed) {
			t.Errorf("after Close: got %v, want %v", err, client.ErrUnsubscribed)
		}
	})
}

// TestSubscriptionsNotOffered has servers without anything to tell of.
func TestSubscriptionsNotOffered(t *testing.T) {
	mcptest.Proves(t, "SUB-ACK-CHECK")
	mcptest.Matrix(t, bare, func(t *testing.T, sess *client.Session) {
		_, err := sess.Subscribe(t.Context(), &mcp.SubscriptionFilter{PromptsListChanged: true, ResourceSubscriptions: []string{"note:1"}})
		if _, ok := errors.AsType[*client.NotOfferedError](err); !ok {
			t.Errorf("got %v, want a NotOfferedError", err)
		}
	})
}

func bare() *server.Server {
	return server.New(mcp.Implementation{Name: "bare", Version: "1"}, nil)
}

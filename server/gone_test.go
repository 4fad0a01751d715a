package server_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// That a caller has gone in the middle of a call is nobody's fault.
func TestCallerThatHasGoneIsNoError(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	srv := newServer(t, &server.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	srv.Handle("x/tell", func(ctx context.Context, c *server.Call) (any, error) {
		return nil, c.Notify(ctx, "notifications/x", nil)
	})
	srv.Handle("x/fail", func(context.Context, *server.Call) (any, error) {
		return nil, errors.New("the disk is full")
	})
	for _, method := range []string{"x/tell", "x/fail"} {
		m, err := jsonrpc.Decode([]byte(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"_meta":{"` +
			mcp.MetaProtocolVersion + `":"2026-07-28","` + mcp.MetaClientCapabilities + `":{}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		rq, err := srv.Decode(m)
		if err != nil {
			t.Fatal(err)
		}
		gone := func([]byte) error { return errors.New("the caller has gone") }
		if r := srv.Serve(t.Context(), rq, gone); r.Error == nil {
			t.Errorf("%s: no error", method)
		}
	}
	if got := log.String(); strings.Contains(got, "the caller has gone") || !strings.Contains(got, "the disk is full") {
		t.Errorf("the log says:\n%s", got)
	}
}

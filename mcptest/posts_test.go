package mcptest_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/httpserver"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

// TestPostsOfSessions has a client answer, notify and give up a call: each message
// is a POST of its own, and that a call is given up is one of them.
func TestPostsOfSessions(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-CANCEL-EXPLICIT", "HTTP-POST-PER-MESSAGE", "HTTP-BODY-SINGLE-LEGACY", "HTTP-BODY-BATCH")
	for _, revision := range resumable {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			srv := curious()
			stopped := make(chan struct{})
			server.AddTool(srv, mcp.Tool{Name: "wait"}, func(ctx context.Context, c *server.Call, _ struct{}) (string, error) {
				if err := c.Progress(ctx, 1, 0, ""); err != nil {
					return "", err
				}
				<-ctx.Done()
				close(stopped)
				return "", context.Cause(ctx)
			})
			handler := httpserver.New(srv, nil)
			rec := &recorder{next: handler}
			web := httptest.NewServer(rec)
			t.Cleanup(func() {
				_ = handler.Close()
				web.Close()
				_ = srv.Close()
			})
			opts := helpful()
			opts.Revision = revision
			sess := mcptest.Connect(t, httpclient.New(web.URL, nil), opts)
			call(t, sess, "look", `{}`) // asks for the roots
			if err := sess.SetRoots(t.Context(), nil); err != nil {
				t.Error(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			_, err := sess.CallTool(ctx, &mcp.CallToolParams{Name: "wait"}, &client.CallOptions{Progress: func(mcp.ProgressParams) { cancel() }})
			if err == nil {
				t.Error("the call that was given up has a result")
			}
			select {
			case <-stopped:
			case <-time.After(10 * time.Second):
				t.Fatal("the server does not stop: nobody has told it to")
			}
			checkPosts(t, rec)
		})
	}
}

// checkPosts checks what a session has sent: single messages, of every kind, the
// last of which cancels the last request.
func checkPosts(t *testing.T, rec *recorder) {
	t.Helper()
	rec.mu.Lock()
	defer rec.mu.Unlock()
	kinds := map[jsonrpc.Kind]int{}
	var last, cancelled string
	for _, p := range rec.posts {
		if len(p.body) == 0 { // the GET of the standing stream
			continue
		}
		m, err := jsonrpc.Decode(p.body)
		if err != nil {
			t.Errorf("the body %s is no single message: %v", p.body, err)
		}
		kinds[m.Kind()]++
		switch {
		case m.Kind() == jsonrpc.Request:
			last = m.ID.String()
		case m.Method == mcp.NotificationCancelled:
			cancelled += string(m.Params)
		}
	}
	if len(kinds) != 3 {
		t.Errorf("sent %v, want requests, notifications and responses", kinds)
	}
	if !strings.Contains(cancelled, `"requestId":`+last+`,`) || strings.Count(cancelled, "requestId") != 1 {
		t.Errorf("cancelled %s, want the request %s", cancelled, last)
	}
}

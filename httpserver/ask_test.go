package httpserver_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/httpserver"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// TestQuestions asks the client of a session on the stream of its call, with as
// many calls running as may.
func TestQuestions(t *testing.T) {
	t.Parallel()
	srv := server.New(mcp.Implementation{Name: "s", Version: "1"}, nil)
	defer srv.Close()
	asked := make(chan struct{}, 1)
	server.AddTool(srv, mcp.Tool{Name: "ask"}, func(ctx context.Context, c *server.Call, _ struct{}) (string, error) {
		roots, err := server.Roots(ctx, c, "roots")
		if err != nil {
			return "", err
		}
		return fmt.Sprint(len(roots), " roots"), nil
	})
	h := httpserver.New(srv, &httpserver.Options{MaxConcurrent: 1})
	defer h.Close()
	var session string
	post := func(w http.ResponseWriter, accept, body string) {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", accept)
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		h.ServeHTTP(w, r)
	}
	const both, onlyJSON = "application/json, text/event-stream", "application/json"
	w := httptest.NewRecorder()
	post(w, both, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+r3+`","capabilities":{"roots":{}}}}`)
	session = w.Header().Get("Mcp-Session-Id")
	const ask = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask"}}`

	w = httptest.NewRecorder()
	post(w, onlyJSON, ask)
	if !strings.Contains(w.Body.String(), "nothing can be asked now") {
		t.Errorf("a client that takes no events: got %s", w.Body)
	}

	stream := &signalling{ResponseRecorder: httptest.NewRecorder(), text: "roots/list", seen: asked}
	done := make(chan struct{})
	go func() { defer close(done); post(stream, both, ask) }()
	<-asked
	w = httptest.NewRecorder()
	post(w, both, `{"jsonrpc":"2.0","id":2,"result":{"roots":[]}}`)
	if w.Code != http.StatusAccepted {
		t.Errorf("the answer: got status %d, %s", w.Code, w.Body)
	}
	<-done
	if !strings.Contains(stream.Body.String(), "0 roots") {
		t.Errorf("got %s", stream.Body)
	}
}

// A signalling recorder tells when a text is written.
type signalling struct {
	*httptest.ResponseRecorder
	text string
	seen chan struct{}
}

func (s *signalling) Write(b []byte) (int, error) {
	n, err := s.ResponseRecorder.Write(b)
	if strings.Contains(string(b), s.text) {
		s.seen <- struct{}{}
	}
	return n, err
}

package client

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"sync"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// maxVisits bounds the web pages of a server that a session remembers.
const maxVisits = 1024

// visits are the web pages that a server sent the user to, by their elicitation
// ids, until the server says that the user is done there.
type visits struct {
	mu   sync.Mutex
	open map[string]*visit
}

// A visit may be what several calls wait for.
type visit struct {
	done  chan struct{} // closed when the user is done
	calls int
}

// begin notes a page for one more call.
func (v *visits) begin(id string) *visit {
	v.mu.Lock()
	defer v.mu.Unlock()
	if known := v.open[id]; known != nil {
		known.calls++
		return known
	}
	if v.open == nil {
		v.open = map[string]*visit{}
	}
	if len(v.open) >= maxVisits {
		for old := range v.open { // a server that never says so has many
			delete(v.open, old)
			break
		}
	}
	begun := &visit{done: make(chan struct{}), calls: 1}
	v.open[id] = begun
	return begun
}

// forget undoes begin for one call.
func (v *visits) forget(id string, one *visit) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if one.calls--; one.calls == 0 && v.open[id] == one {
		delete(v.open, id)
	}
}

// completed notes that the server is done with a page, and reports whether the
// user was sent there.
func (v *visits) completed(params stdjson.RawMessage) bool {
	var p mcp.ElicitationCompleteParams
	if json.Unmarshal(params, &p) != nil {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	known := v.open[p.ElicitationID]
	if known == nil {
		return false
	}
	close(known.done)
	delete(v.open, p.ElicitationID)
	return true
}

// A remoteError is a server's error that means something to callers: it is both
// the wire's error and the one of package mcp.
type remoteError struct {
	wire  *jsonrpc.Error
	typed error
}

// Error implements the error interface.
func (e *remoteError) Error() string { return e.wire.Error() }

// Unwrap returns both.
func (e *remoteError) Unwrap() []error { return []error{e.typed, e.wire} }

// needsVisits reports whether a call failed because the user must visit web
// pages first, and there is a handler that sends them there.
func (s *Session) needsVisits(d dialect, err error) bool {
	_, ok := errors.AsType[*mcp.URLElicitationRequiredError](err)
	return ok && s.client.opts.OnElicit != nil && d.revision().ClientCapabilities(s.client.declared).Elicitation.SupportsURL()
}

// visit sends the user to all pages that a server's error names, and waits until
// the server says that they are done there. It returns why it is not so, the
// error itself if the user does not want to.
func (c *conversation) visit(ctx context.Context) error {
	refusal := c.err
	pages, _ := errors.AsType[*mcp.URLElicitationRequiredError](refusal)
	questions := make(map[string]mcp.InputRequest, len(pages.Elicitations))
	visits := make([]*visit, 0, len(pages.Elicitations))
	for _, page := range pages.Elicitations {
		page.Mode = mcp.ElicitURL
		questions[page.ElicitationID] = mcp.ElicitInput(&page)
		begun := c.sess.visits.begin(page.ElicitationID)
		visits = append(visits, begun)
		defer c.sess.visits.forget(page.ElicitationID, begun)
	}
	responses, err := c.answers(ctx, questions)
	if err != nil {
		return err
	}
	for id := range responses {
		var answer mcp.ElicitResult
		if _, err := responses.Get(id, &answer); err != nil || !answer.Accepted() {
			return refusal
		}
	}
	for _, begun := range visits {
		select {
		case <-begun.done:
		case <-c.sess.ctx.Done():
			return context.Cause(c.sess.ctx)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// sentTo notes the page of a question that a user is sent to.
func (s *Session) sentTo(rev *revision.Revision, params *mcp.ElicitParams) {
	if params != nil && params.IsURL() && rev.DefinesServer(mcp.NotificationElicitationComplete) {
		s.visits.begin(params.ElicitationID)
	}
}

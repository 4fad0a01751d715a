package gateway

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// maxParked bounds the flights that wait for an answer, and parkTime each.
const (
	maxParked = 1024
	parkTime  = 10 * time.Minute
)

var (
	errNoAnswer = errors.New("nobody has answered")
	errClosed   = errors.New("the gateway is closed")
)

// A flight is a call at a server with a session that may ask something about it.
// The server waits for the answer while the call stays open; a stateless caller
// is asked with a result, and comes back with the answer in a call of its own.
// So a flight may outlast the call that began it, and is parked meanwhile.
type flight struct {
	id        string // while it is parked; guarded by the lock of the flights
	cancel    context.CancelCauseFunc
	questions chan question
	pending   question // what the caller has been asked; of whoever has the flight

	done chan struct{} // closed when raw and err are there
	raw  json.RawMessage
	err  error

	mu     sync.Mutex
	report func(mcp.ProgressParams) // of the call that has the flight, may be nil
}

type question struct {
	in    mcp.InputRequest
	reply chan json.RawMessage // of size 1
}

// flights are those of a gateway.
type flights struct {
	wg sync.WaitGroup // one goroutine for each flight

	mu     sync.Mutex
	closed bool
	open   map[*flight]struct{}
	parked map[string]*parked
}

type parked struct {
	*flight
	expiry *time.Timer
}

// begin makes a call that the caller can be asked about. The flight of a stateless
// caller does not end with ctx.
func (f *flights) begin(ctx context.Context, c *server.Call, params json.RawMessage, do forward) (*flight, error) {
	if c.Modern() {
		ctx = context.WithoutCancel(ctx)
	}
	fl := &flight{questions: make(chan question), done: make(chan struct{})}
	ctx, fl.cancel = context.WithCancelCause(ctx)
	can := c.ClientCapabilities()
	opts := &client.CallOptions{Answer: func(ctx context.Context, in mcp.InputRequest) (any, error) {
		if !able(&can, &in) {
			return nil, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "the client of this call cannot answer that")
		}
		return fl.ask(ctx, in)
	}}
	if c.WantsProgress() {
		opts.Progress = fl.progress
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		fl.cancel(errClosed)
		return nil, errClosed
	}
	if f.open == nil {
		f.open, f.parked = map[*flight]struct{}{}, map[string]*parked{}
	}
	f.open[fl] = struct{}{}
	f.wg.Go(func() {
		fl.raw, fl.err = do(ctx, c.Name, params, opts)
		f.landed(fl, ctx.Err() != nil)
		close(fl.done)
		fl.cancel(nil)
	})
	return fl, nil
}

// landed notes that a flight has its result. Nobody comes back for the one of a
// flight that was cancelled.
func (f *flights) landed(fl *flight, cancelled bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.open, fl)
	if p := f.parked[fl.id]; p != nil && cancelled {
		p.expiry.Stop()
		delete(f.parked, fl.id)
	}
}

// able reports whether a client can be asked something.
func able(can *mcp.ClientCapabilities, in *mcp.InputRequest) bool {
	switch {
	case in.Elicit != nil && in.Elicit.IsURL():
		return can.Elicitation.SupportsURL()
	case in.Elicit != nil:
		return can.Elicitation.SupportsForm()
	case in.Sampling != nil:
		return can.Sampling != nil && (can.Sampling.Tools != nil || in.Sampling.Tools == nil && in.Sampling.ToolChoice == nil)
	default:
		return in.Method == mcp.MethodRootsList && can.Roots != nil
	}
}

// ask hands a question to whoever has the flight, and waits for the answer.
func (fl *flight) ask(ctx context.Context, in mcp.InputRequest) (any, error) {
	q := question{in: in, reply: make(chan json.RawMessage, 1)}
	select {
	case fl.questions <- q:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case answer := <-q.reply:
		return answer, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// progress passes progress to the call that has the flight.
func (fl *flight) progress(p mcp.ProgressParams) {
	fl.mu.Lock()
	report := fl.report
	fl.mu.Unlock()
	if report != nil {
		report(p)
	}
}

func (fl *flight) setReport(report func(mcp.ProgressParams)) {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	fl.report = report
}

// park keeps a flight until its caller comes back, and reports whether there was
// room for it. It has another id each time: what answers one question, come
// twice, must not answer the next.
func (f *flights) park(fl *flight) (id string, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || len(f.parked) >= maxParked {
		fl.cancel(errNoAnswer)
		return "", false
	}
	id = rand.Text()
	fl.id = id
	f.parked[id] = &parked{fl, time.AfterFunc(parkTime, func() {
		if late := f.take(id); late != nil {
			late.cancel(errNoAnswer)
		}
	})}
	return id, true
}

// take returns a parked flight, to one caller only; nil if there is none.
func (f *flights) take(id string) *flight {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.parked[id]
	if p == nil {
		return nil
	}
	p.expiry.Stop()
	delete(f.parked, id)
	return p.flight
}

// close ends all flights and waits for them.
func (f *flights) close() {
	f.mu.Lock()
	f.closed = true
	for _, p := range f.parked {
		p.expiry.Stop()
	}
	clear(f.parked)
	for fl := range f.open {
		fl.cancel(errClosed)
	}
	f.mu.Unlock()
	f.wg.Wait()
}

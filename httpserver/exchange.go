package httpserver

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ferrymcp/ferry/httpserver/internal/web"
	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/server"
)

// An exchange is one POST and its answer: JSON, or events from the first
// message on that has to go out before the response. It is used again for
// other requests after recycle.
type exchange struct {
	flight
	h     *Handler
	sink  server.Sink                    // takes messages that belong to the request
	letGo func(retry time.Duration) bool // ends the connection, but not the request
	// timer sends comments while the handler is silent.
	timer *time.Timer

	r            *http.Request
	version      string // of the header
	principal    string
	json, events bool // what the client accepts; at least one
	// keepsGoing requests do not end when their client goes.
	keepsGoing bool
	sess       *session // to be released
	limited    bool     // counted as a request without a session
	answers    bool     // the message is a response

	mu sync.Mutex // guards the writer until the answer is complete
	web.Writer
	watched   bool        // the timer runs
	hurried   bool        // because events wait
	due       atomic.Bool // the timer has fired, and found the exchange writing
	streaming bool
	track     *track // the stream, if it can be resumed
	finished  bool
	failed    error // the first error of writing
}

func newExchange(h *Handler) *exchange {
	x := &exchange{h: h}
	x.sink = x.related
	x.letGo = x.disconnect
	return x
}

// exchange returns an exchange for a request whose body has been read.
func (h *Handler) exchange(w http.ResponseWriter, r *http.Request) *exchange {
	x, _ := h.exchanges.Get().(*exchange)
	x.r = r
	x.version = header(r, httpwire.HeaderProtocolVersion)
	x.Reset(w, r, h.opts.WriteTimeout)
	return x
}

// begin enters the request. When the handler is closing it is refused.
func (x *exchange) begin(parent context.Context, standing bool) (context.Context, bool) {
	ctx, ok := x.h.begin(parent, &x.flight, standing)
	if !ok {
		x.refuse(http.StatusServiceUnavailable, jsonrpc.ID{}, errStopping)
	}
	return ctx, ok
}

// watch keeps the connection alive from here on, if the client takes events.
func (x *exchange) watch() {
	if !x.events {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.watched = true
	x.rewindLocked()
}

func (x *exchange) rewindLocked() {
	if !x.watched {
		return
	}
	x.hurried = x.Holds()
	wait := x.h.opts.Keepalive
	if x.hurried {
		wait = web.JoinTime
	}
	if x.timer == nil {
		x.timer = time.AfterFunc(wait, x.quiet)
	} else {
		x.timer.Reset(wait)
	}
}

// quiet is called when nothing was sent for a while, or events have waited long
// enough.
func (x *exchange) quiet() {
	if !x.mu.TryLock() {
		x.due.Store(true)
		if !x.mu.TryLock() {
			return // whoever holds it is writing, and will see
		}
	}
	defer x.mu.Unlock()
	x.due.Store(false)
	if x.finished || x.failed != nil {
		return
	}
	if x.Holds() {
		_ = x.checkLocked(x.Release())
		x.rewindLocked()
		return
	}
	if x.openLocked(x.h.opts.RetryAfter) == nil && (x.track == nil || x.track.isMine()) {
		_ = x.checkLocked(x.Comment())
	}
	x.rewindLocked()
}

// catchUp does what the timer has left to whoever was writing.
func (x *exchange) catchUp() {
	if x.due.Load() {
		x.quiet()
	}
}

// way returns where messages that belong to the request go; nil when the client
// takes no events.
func (x *exchange) way() server.Sink {
	if !x.events {
		return nil
	}
	return x.sink
}

// related sends a message that belongs to the request.
func (x *exchange) related(frame []byte) error {
	x.mu.Lock()
	err := x.relatedLocked(frame)
	x.mu.Unlock()
	x.catchUp()
	if x.keepsGoing {
		return nil // the handler must not take it for a cancellation
	}
	return err
}

func (x *exchange) relatedLocked(frame []byte) error {
	if x.finished {
		return nil
	}
	if ctx := x.r.Context(); !x.keepsGoing && ctx.Err() != nil {
		return context.Cause(ctx) // that the client has gone has cancelled the request
	}
	err := x.openLocked(x.h.opts.RetryAfter)
	if x.track != nil || err == nil {
		err = x.eventLocked(frame, false)
	}
	if !x.hurried || !x.Holds() {
		x.rewindLocked()
	}
	return err
}

// openLocked turns the answer into a stream, if it is none. A client that
// resumes it is asked to wait for retry.
func (x *exchange) openLocked(retry time.Duration) error {
	if x.streaming || x.failed != nil {
		return x.failed
	}
	x.streaming = true
	if err := x.checkLocked(x.Open()); err != nil || x.sess == nil {
		return err
	}
	x.track = x.sess.replay.openRequest()
	if priming, ok := x.track.prime(retry); ok {
		return x.checkLocked(x.EventAs(priming, nil))
	}
	return nil
}

// eventLocked sends a message. What can be asked for again is kept before it is
// sent, and all that is done when the client has gone or reads elsewhere.
func (x *exchange) eventLocked(frame []byte, last bool) error {
	if x.track == nil {
		return x.checkLocked(x.EventSoon(httpwire.Event{}, frame))
	}
	seq, mine := x.track.add(frame)
	if last {
		x.track.end()
	}
	if x.failed != nil || !mine {
		return x.failed
	}
	e := httpwire.Event{ID: x.track.id(seq)}
	if last {
		return x.checkLocked(x.EventAs(e, frame))
	}
	return x.checkLocked(x.EventSoon(e, frame))
}

// disconnect lets go of the connection, so that the client comes back for the
// response.
func (x *exchange) disconnect(retry time.Duration) bool {
	defer x.catchUp()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.finished {
		return false
	}
	if retry <= 0 {
		retry = x.h.opts.RetryAfter
	}
	open := x.streaming
	err := x.openLocked(retry)
	if x.track == nil {
		return false // the client has gone without an id to come back with
	}
	if err == nil && x.track.isMine() {
		if open {
			_ = x.checkLocked(x.EventAs(httpwire.Event{Retry: retry}, nil)) // who has gone comes back too
		}
		if x.failed == nil && !x.End() {
			return false
		}
	}
	x.track.dismiss(retry)
	x.failed = cmp.Or(x.failed, errLetGo)
	return true
}

var errLetGo = errors.New("the connection was let go of")

// checkLocked remembers that the client cannot be reached, which for a
// request of a stateless revision is a cancellation.
func (x *exchange) checkLocked(err error) error {
	if err == nil {
		return nil
	}
	x.failed = err
	if !x.keepsGoing && x.cancel != nil {
		x.cancel(err)
	}
	return err
}

// finish ends the time in which anything but the answer may be written. It
// reports whether the answer is a stream.
func (x *exchange) finish() (streaming bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.finished = true
	_ = x.checkLocked(x.Release())
	if x.watched && x.timer.Stop() {
		x.watched = false
	}
	return x.streaming
}

// conclude sends the response. Nil stands for a notification, which is only
// accepted, and for a request that was cancelled and gets no response.
func (x *exchange) conclude(response *server.Response) {
	streaming := x.finish()
	switch {
	case response == nil && streaming:
		return // the end of the stream is all there is to say
	case response == nil:
		x.W.WriteHeader(http.StatusAccepted)
		return
	}
	status := http.StatusOK
	if !x.keepsGoing {
		status = modernStatus(response)
	}
	buf := jsonrpc.GetBuffer()
	defer jsonrpc.PutBuffer(buf)
	if streaming || !x.json && status == http.StatusOK {
		x.lastEvents(buf, response)
		return
	}
	response.Write(buf)
	x.answer(status, buf)
}

// lastEvents sends responses as the last events of the stream.
func (x *exchange) lastEvents(buf *bytes.Buffer, responses ...*server.Response) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.openLocked(x.h.opts.RetryAfter) != nil && x.track == nil {
		return
	}
	for i, response := range responses {
		buf.Reset()
		if x.track != nil {
			response.Write(buf)
			_ = x.eventLocked(buf.Bytes(), i == len(responses)-1) // what cannot be sent is kept
			continue
		}
		httpwire.BeginEvent(buf, httpwire.Event{})
		response.Write(buf)
		if x.checkLocked(x.EndEvent(buf)) != nil {
			return
		}
	}
}

// answer sends the answer as JSON.
func (x *exchange) answer(status int, buf *bytes.Buffer) {
	x.W.Header()["Content-Type"] = web.TypeJSON
	_ = x.Whole(status, buf.Bytes()) // the client has gone: nobody waits for the answer
}

// abandon ends the exchange without an answer.
func (x *exchange) abandon() { x.finish() }

// refuse answers with an error status.
func (x *exchange) refuse(status int, id jsonrpc.ID, e *jsonrpc.Error) {
	if x.finish() {
		return // too late for a status
	}
	web.Refuse(x.W, status, id, e)
}

// settle ends the exchange, whatever became of it.
func (x *exchange) settle() {
	x.finish()
	if x.track != nil {
		x.track.end()
	}
	x.h.end(&x.flight)
	if x.sess != nil {
		x.h.sessions.release(x.sess)
	}
	if x.limited {
		x.h.sessions.leave()
	}
}

// recycle settles the exchange and makes it ready for another request.
func (x *exchange) recycle() {
	x.settle()
	x.Finish()
	if x.watched || x.streaming {
		return // the timer has fired, or may have: its function may still come
	}
	*x = exchange{h: x.h, sink: x.sink, letGo: x.letGo, timer: x.timer}
	x.h.exchanges.Put(x)
}

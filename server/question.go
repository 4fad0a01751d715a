package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// maxQuestions bounds the requests of the server that the client of a session
// has not answered.
const maxQuestions = 64

// questions are those requests, by id.
type questions struct {
	mu     sync.Mutex
	last   int64
	open   map[jsonrpc.ID]*question
	closed bool
}

// A question is one request of the server.
type question struct {
	id jsonrpc.ID
	// answered gets the response; it is closed when none can come any more.
	answered chan jsonrpc.Message
}

var (
	errNoAnswers        = errors.New("the client has gone and cannot answer")
	errTooManyQuestions = fmt.Errorf("%d questions of this session have not been answered; ask again later", maxQuestions)
	errNoWay            = errors.New("nothing can be asked now: the client takes only the response, or has it already")
)

// begin enters a question. Whoever entered it ends it.
func (qs *questions) begin() (*question, error) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	switch {
	case qs.closed:
		return nil, errNoAnswers
	case len(qs.open) >= maxQuestions:
		return nil, errTooManyQuestions
	case qs.open == nil:
		qs.open = make(map[jsonrpc.ID]*question)
	}
	qs.last++
	q := &question{id: jsonrpc.IntID(qs.last), answered: make(chan jsonrpc.Message, 1)}
	qs.open[q.id] = q
	return q, nil
}

// end takes a question out.
func (qs *questions) end(q *question) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	delete(qs.open, q.id)
}

// take takes out the question that a response answers; nil when there is none.
func (qs *questions) take(id jsonrpc.ID) *question {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	q := qs.open[id]
	delete(qs.open, id)
	return q
}

// close tells everybody who waits that no answer comes.
func (qs *questions) close() {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	qs.closed = true
	for _, q := range qs.open {
		close(q.answered)
	}
	qs.open = nil
}

// Answer hands the client's response to the handler that waits for it. Carriers
// call it. A response that nobody waits for is dropped: it came twice, or late.
func (sess *Session) Answer(m jsonrpc.Message) {
	if q := sess.asked.take(m.ID); q != nil {
		q.answered <- m
		return
	}
	sess.srv.log.Debug("a response to no request", "id", m.ID.String())
}

// request asks the client of a session and waits for the answer. An answer
// that is an error is a *jsonrpc.Error.
func (c *Call) request(ctx context.Context, sess *Session, method string, params any) (json.RawMessage, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	q, err := sess.asked.begin()
	if err != nil {
		return nil, err
	}
	defer sess.asked.end(q)
	if err := c.sendRequest(q.id, method, params); err != nil {
		return nil, err
	}
	if c.reader != nil {
		c.reader.yield(c.turn)
	}
	timer := time.NewTimer(c.srv.opts.AnswerTimeout)
	defer timer.Stop()
	select {
	case m, ok := <-q.answered:
		switch {
		case !ok:
			return nil, errNoAnswers
		case m.Error != nil:
			return nil, m.Error
		}
		return m.Result, nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-timer.C:
		err = fmt.Errorf("the client has not answered within %v", c.srv.opts.AnswerTimeout)
	}
	c.withdraw(q.id)
	return nil, err
}

func (c *Call) sendRequest(id jsonrpc.ID, method string, params any) error {
	buf := jsonrpc.GetBuffer()
	defer jsonrpc.PutBuffer(buf)
	if err := jsonrpc.WriteRequest(buf, id, method, c.from.revision().Encode(params)); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.finished || c.sink == nil {
		return errNoWay
	}
	return c.sink(buf.Bytes())
}

// withdraw tells the client that a question needs no answer any more.
func (c *Call) withdraw(id jsonrpc.ID) {
	buf := jsonrpc.GetBuffer()
	defer jsonrpc.PutBuffer(buf)
	p := &mcp.CancelledParams{RequestID: id, Reason: "the answer is not needed any more"}
	if jsonrpc.WriteNotification(buf, mcp.NotificationCancelled, p) == nil {
		_ = c.send(buf) // a client that cannot be reached asks nobody
	}
}

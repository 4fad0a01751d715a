package client

import (
	"bytes"
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/mcp"
)

// The members of a repeated call that answer the result before it.
const (
	memberResponses = "inputResponses"
	memberState     = "requestState"
)

// The wait before a call is repeated that asked nothing, which doubles each time
// but the first, when there is none.
const (
	minRepeat = 100 * time.Millisecond
	maxRepeat = 5 * time.Second
)

// errTooManyRounds is the Err of an InputError for a server that does not stop
// asking.
var errTooManyRounds = errors.New("the server asked too often")

// mayAsk are the methods whose results may ask for input.
var mayAsk = map[string]bool{
	mcp.MethodToolsCall:     true,
	mcp.MethodPromptsGet:    true,
	mcp.MethodResourcesRead: true,
}

// asks reports whether a result of a stateless server asks for input. It does not look further into
// results that say nothing of it.
func asks(d dialect, method string, raw stdjson.RawMessage) bool {
	if !mayAsk[method] || !d.revision().Modern() || !bytes.Contains(raw, []byte(mcp.ResultInputRequired)) {
		return false
	}
	kind, _ := json.Member(raw, "resultType")
	text, ok := json.Unquote(kind)
	return ok && text == mcp.ResultInputRequired
}

// decodeQuestions decodes a result that asks for input.
func decodeQuestions(method string, raw stdjson.RawMessage) (*mcp.InputRequiredResult, error) {
	result := new(mcp.InputRequiredResult)
	err := decodeResult(method, raw, result, "inputRequests", memberState)
	return result, err
}

// converse makes a call, and repeats it with the answers for as long as its
// result asks for input that there are handlers for.
func (s *Session) converse(ctx context.Context, method string, params any, opts *CallOptions) (stdjson.RawMessage, dialect, error) {
	if opts == nil {
		opts = plainCall
	}
	began := time.Now()
	raw, d, err := s.call(ctx, method, params, opts)
	if opts.Relay || err == nil && !asks(d, method, raw) || err != nil && !s.needsVisits(d, err) {
		return raw, d, err
	}
	c := &conversation{sess: s, method: method, opts: opts, d: d, last: raw, err: err}
	if c.params, err = encodeObject(params); err != nil {
		return nil, nil, err
	}
	most := limit(opts.MaxTimeout, s.client.opts.MaxTimeout)
	bounded, cancel := ctx, context.CancelFunc(func() {})
	if most != 0 {
		bounded, cancel = context.WithDeadline(ctx, began.Add(most))
	}
	defer cancel()
	err = c.run(bounded)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		err = &TimeoutError{Method: method, Limit: most, Max: true}
	}
	return c.last, c.d, err
}

// A conversation is a call that is repeated until the server has what it needs.
// Nothing of it is shared with other calls.
type conversation struct {
	sess   *Session
	method string
	params []byte // of the first call, an object
	opts   *CallOptions
	d      dialect            // of the last result
	last   stdjson.RawMessage // the last result
	err    error              // or the last error
	idle   time.Duration      // the wait before the next call, when nothing is asked
}

func (c *conversation) run(ctx context.Context) error {
	for round := 0; ; round++ {
		visits := c.err != nil && c.sess.needsVisits(c.d, c.err)
		if c.err != nil && !visits || c.err == nil && !asks(c.d, c.method, c.last) {
			return c.err
		}
		if round == c.sess.client.opts.MaxRounds {
			return &InputError{Method: c.method, Err: errTooManyRounds}
		}
		params := stdjson.RawMessage(c.params)
		if visits {
			if err := c.visit(ctx); err != nil {
				return err
			}
		} else {
			var mine bool
			var err error
			if params, mine, err = c.fulfil(ctx); err != nil || !mine {
				return err
			}
		}
		c.last, c.d, c.err = c.sess.call(ctx, c.method, params, c.opts)
	}
}

// fulfil answers what the last result asks and returns the parameters of the
// next call. It reports whether there are handlers for all of it.
func (c *conversation) fulfil(ctx context.Context) (params stdjson.RawMessage, mine bool, err error) {
	asked, err := decodeQuestions(c.method, c.last)
	if err != nil {
		return nil, false, err
	}
	for _, q := range asked.InputRequests {
		if c.opts.Answer == nil && !c.sess.client.opts.handles(q.Method) {
			return nil, false, nil
		}
	}
	responses, err := c.answers(ctx, asked.InputRequests)
	if err != nil {
		return nil, false, err
	}
	if params, err = c.next(responses); err != nil {
		return nil, false, fmt.Errorf("%s: encode params: %w", c.method, err)
	}
	return params, true, nil
}

// answers gets the answers to all questions of a result, one after the other.
// It does not wait for handlers longer than ctx and the session last.
func (c *conversation) answers(ctx context.Context, questions map[string]mcp.InputRequest) (mcp.InputResponses, error) {
	if len(questions) == 0 {
		return nil, c.pause(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.sess.ctx, func() { cancel(context.Cause(c.sess.ctx)) })()
	var responses mcp.InputResponses
	var err error
	done := make(chan struct{})
	rev := c.d.revision()
	started := c.sess.answering.start(c.sess, func() {
		defer close(done)
		for _, key := range slices.Sorted(maps.Keys(questions)) {
			if err = c.sess.respondTo(ctx, rev, questions[key], c.opts.Answer, key, &responses); err != nil {
				err = &InputError{Method: c.method, Key: key, Err: err}
				return
			}
		}
	})
	if !started {
		return nil, &InputError{Method: c.method, Err: errors.New("too many questions in progress")}
	}
	select {
	case <-done:
		if ctx.Err() == nil {
			return responses, err
		}
	case <-ctx.Done():
	}
	return nil, fmt.Errorf("%s: %w", c.method, context.Cause(ctx))
}

// respondTo puts the answer to one question under its key.
func (s *Session) respondTo(ctx context.Context, rev *revision.Revision, q mcp.InputRequest, answer answerer, key string, into *mcp.InputResponses) error {
	result, err := s.respond(ctx, rev, q, answer)
	if err != nil {
		return err
	}
	return into.Set(key, result)
}

// pause waits before the next call of a server that only wants to be called
// again.
func (c *conversation) pause(ctx context.Context) error {
	timer := time.NewTimer(c.idle)
	defer timer.Stop()
	c.idle = min(max(2*c.idle, minRepeat), maxRepeat)
	select {
	case <-timer.C:
		return nil
	case <-c.sess.ctx.Done():
		return fmt.Errorf("%s: %w", c.method, context.Cause(c.sess.ctx))
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", c.method, context.Cause(ctx))
	}
}

// next returns the parameters of the next call: those of the first one, the
// answers, and the state of the last result as it came, if it has one.
func (c *conversation) next(responses mcp.InputResponses) (stdjson.RawMessage, error) {
	out := []byte{'{'}
	for name, value := range json.Members(c.params) {
		if name != memberResponses && name != memberState {
			out = appendMember(out, name, value)
		}
	}
	if responses != nil {
		encoded, err := json.Marshal(responses)
		if err != nil {
			return nil, err
		}
		out = appendMember(out, memberResponses, encoded)
	}
	if state, ok := json.Member(c.last, memberState); ok && string(state) != "null" {
		out = appendMember(out, memberState, state)
	}
	return append(out, '}'), nil
}

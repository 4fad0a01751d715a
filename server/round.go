package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	ijson "github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/mcp"
)

// A round is one run of a handler that asks the client: what is known from
// earlier rounds, what has come with this one, and what is still to be asked.
// A call has one only when its handler asks.
type round struct {
	mu      sync.Mutex
	known   roundState
	given   mcp.InputResponses // what came with this try
	wanted  map[string]mcp.InputRequest
	invalid error // why what came with this try cannot be used, or what is wanted not be asked
}

// roundState is what the next round has to know. It travels through the client.
type roundState struct {
	// Expires is a Unix time in seconds.
	Expires int64 `json:"e"`
	// Answers are those that handlers have used, by key.
	Answers map[string]json.RawMessage `json:"a,omitzero"`
	// Journal are the results of Once, by key.
	Journal map[string]json.RawMessage `json:"j,omitzero"`
	// Own is the state that the handler itself has given.
	Own string `json:"s,omitzero"`
}

// inputs returns the call's round. The error tells that what came with the
// request cannot be used.
func (c *Call) inputs() (*round, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.round == nil {
		c.round = &round{}
		if c.Session() == nil && asking(c.Method) {
			c.round.invalid = c.round.read(c)
		}
	}
	return c.round, c.round.invalid
}

// read reads what came with the request.
func (r *round) read(c *Call) error {
	if raw, _ := ijson.Member(c.Raw, "inputResponses"); unlessNull(raw) != nil {
		if err := ijson.Unmarshal(raw, &r.given); err != nil {
			return invalidParams("params of %s: inputResponses: %v", c.Method, err)
		}
	}
	raw, _ := ijson.Member(c.Raw, "requestState")
	if unlessNull(raw) == nil {
		return nil
	}
	sealed, ok := ijson.Unquote(raw)
	if !ok {
		return invalidParams("params of %s: requestState must be a string", c.Method)
	}
	return c.openState(sealed, &r.known)
}

// answer returns the answer to a question. What a handler has used in an earlier
// round counts, not what the client says now.
func (r *round) answer(key string) (json.RawMessage, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	raw, ok := r.known.Answers[key]
	if !ok {
		raw = unlessNull(r.given[key])
		ok = raw != nil
	}
	return raw, ok
}

// keep remembers an answer for the rounds to come.
func (r *round) keep(key string, raw json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known.Answers == nil {
		r.known.Answers = make(map[string]json.RawMessage, 1)
	}
	r.known.Answers[key] = raw
}

// want asks a question when this run of the handler has ended.
func (r *round) want(key string, in mcp.InputRequest) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.wantLocked(key, in)
}

func (r *round) wantLocked(key string, in mcp.InputRequest) error {
	if other, ok := r.wanted[key]; ok && !sameQuestion(in, other) {
		r.invalid = fmt.Errorf("two questions have the key %q, and would have one answer", key)
		return r.invalid
	}
	if r.wanted == nil {
		r.wanted = make(map[string]mcp.InputRequest, 1)
	}
	r.wanted[key] = in
	return nil
}

// sameQuestion compares questions. The ids of pages are made anew each time.
func sameQuestion(a, b mcp.InputRequest) bool {
	if a.Elicit != nil && b.Elicit != nil {
		x, y := *a.Elicit, *b.Elicit
		x.ElicitationID, y.ElicitationID = "", ""
		return reflect.DeepEqual(x, y)
	}
	return reflect.DeepEqual(a, b)
}

// InputResponses returns the answers that came with the request to what the
// handler asked with a *mcp.InputRequiredResult; nil when there are none. The
// error is to be returned.
func (c *Call) InputResponses() (mcp.InputResponses, error) {
	r, err := c.inputs()
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.given, nil
}

// RequestState returns the RequestState of the *mcp.InputRequiredResult that the
// handler returned last time; "" when there was none. It can be relied on: what
// crosses the wire is sealed, and only the same request of the same principal
// opens it, for the time of Options.StateTTL. It can come several times. The
// error is to be returned.
func (c *Call) RequestState() (string, error) {
	r, err := c.inputs()
	if err != nil {
		return "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known.Own, nil
}

// maxRounds bounds how often a handler runs for one request of a session.
const maxRounds = 16

// run calls the chain of handlers. A result that asks for input is sent to
// stateless callers; sessions are asked at once, and the handler runs again.
func (s *Server) run(ctx context.Context, c *Call) (any, error) {
	for range maxRounds {
		result, err := (*s.handler.Load())(ctx, c)
		var required *mcp.InputRequiredResult
		if err == nil {
			required, err = inputRequired(result)
		}
		sess := c.Session()
		if sess == nil {
			return c.settle(result, err, required)
		}
		if required == nil {
			return result, err
		}
		if err := c.fulfil(ctx, sess, required); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s %q has asked for input %d times", c.Method, c.Name, maxRounds)
}

// inputRequired returns a result that asks for input, also one that is JSON
// already; nil when it does not.
func inputRequired(result any) (*mcp.InputRequiredResult, error) {
	switch r := result.(type) {
	case *mcp.InputRequiredResult:
		if r == nil {
			r = &mcp.InputRequiredResult{}
		}
		return r, nil
	case mcp.InputRequiredResult:
		return &r, nil
	case json.RawMessage:
		if !bytes.Contains(r, []byte(mcp.ResultInputRequired)) {
			return nil, nil
		}
		kind, _ := ijson.Member(r, "resultType")
		if text, ok := ijson.Unquote(kind); !ok || text != mcp.ResultInputRequired {
			return nil, nil
		}
		required := new(mcp.InputRequiredResult)
		if err := ijson.Unmarshal(r, required); err != nil {
			return nil, fmt.Errorf("read a result that requires input: %w", err)
		}
		return required, nil
	}
	return nil, nil
}

// fulfil asks the client of a session what a result asks for.
func (c *Call) fulfil(ctx context.Context, sess *Session, required *mcp.InputRequiredResult) error {
	given := make(mcp.InputResponses, len(required.InputRequests))
	for _, key := range slices.Sorted(maps.Keys(required.InputRequests)) {
		in, err := c.askable(required.InputRequests[key])
		if err != nil {
			return err
		}
		raw, err := c.demand(ctx, sess, key, in)
		if err != nil {
			return err
		}
		given[key] = raw
	}
	r, err := c.inputs()
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.given, r.known.Own = given, ""
	if required.RequestState != nil {
		r.known.Own = *required.RequestState
	}
	return nil
}

// settle makes the result of a stateless call whose handler has asked something.
func (c *Call) settle(result any, err error, required *mcp.InputRequiredResult) (any, error) {
	if visit, ok := errors.AsType[*mcp.URLElicitationRequiredError](err); ok && asking(c.Method) {
		if required, err = pagesRequired(visit); err != nil {
			return nil, err
		}
	}
	c.mu.Lock()
	r := c.round
	c.mu.Unlock()
	if r == nil && required == nil {
		return result, err
	}
	if r == nil {
		// Nobody has looked at what came with the request: nothing of it counts.
		r = &round{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.invalid != nil:
		return nil, r.invalid
	case len(r.wanted) == 0 && required == nil, blames(err):
		return result, err
	}
	return c.require(r, required)
}

// blames reports whether an error is the client's, and tells more than the
// questions that are still open.
func blames(err error) bool {
	if _, ok := errors.AsType[*mcp.MissingCapabilityError](err); ok {
		return true
	}
	_, ok := errors.AsType[*AnswerError](err)
	return ok
}

// require makes the result that asks the client, of what the functions for
// asking want and of what the handler itself has returned. It holds r.mu.
func (c *Call) require(r *round, required *mcp.InputRequiredResult) (any, error) {
	if !asking(c.Method) {
		return nil, fmt.Errorf("the result of %s cannot be that input is required", c.Method)
	}
	result := &mcp.InputRequiredResult{}
	if required != nil {
		result.Result = required.Result
		for key, in := range required.InputRequests {
			in, err := c.askable(in)
			if err == nil {
				err = r.wantLocked(key, in)
			}
			if err != nil {
				return nil, err
			}
		}
		r.known.Own = ""
		if required.RequestState != nil {
			r.known.Own = *required.RequestState
		}
	}
	for key, in := range r.wanted {
		r.wanted[key] = c.encoded(in)
	}
	result.InputRequests = r.wanted
	hasState := required != nil && required.RequestState != nil
	if !hasState && len(r.wanted) == 0 {
		return nil, errors.New("a result that requires input has neither requests nor a state")
	}
	if hasState || len(r.known.Answers) > 0 || len(r.known.Journal) > 0 {
		sealed, err := c.sealState(&r.known)
		if err != nil {
			return nil, err
		}
		result.RequestState = &sealed
	}
	return result, nil
}

// encoded returns a question as the caller's revision has it.
func (c *Call) encoded(in mcp.InputRequest) mcp.InputRequest {
	rev := c.from.revision()
	if in.Elicit != nil {
		in.Elicit, _ = rev.Encode(in.Elicit).(*mcp.ElicitParams)
	}
	if in.Sampling != nil {
		in.Sampling, _ = rev.Encode(in.Sampling).(*mcp.CreateMessageParams)
	}
	return in
}

// pagesRequired asks the user to visit the pages that an error names.
func pagesRequired(visit *mcp.URLElicitationRequiredError) (*mcp.InputRequiredResult, error) {
	complete, err := pages(visit)
	if err != nil {
		return nil, err
	}
	requests := make(map[string]mcp.InputRequest, len(complete.Elicitations))
	for i, p := range complete.Elicitations {
		requests[fmt.Sprintf("page-%d", i+1)] = mcp.ElicitInput(&p)
	}
	return mcp.InputRequired(requests, ""), nil
}

// done returns what Once has journalled.
func (r *round) done(key string) (json.RawMessage, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	raw, ok := r.known.Journal[key]
	return raw, ok
}

// record journals what Once has done.
func (r *round) record(key string, raw json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known.Journal == nil {
		r.known.Journal = make(map[string]json.RawMessage, 1)
	}
	r.known.Journal[key] = raw
}

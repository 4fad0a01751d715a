package gateway

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// This file passes the questions of servers on to the caller. There are two ways
// to ask on either side, and they are brought together here:
//
//	server     stateless     its result asks; it goes to the caller, whose answers
//	                         and the server's state go into the next call
//	           with session  it asks while the call is open: the call is a flight
//	caller     either        the handler returns what is asked; the server
//	                         package asks, and runs it again with the answers

// forward makes a call at the server that has the feature of that name.
type forward func(ctx context.Context, name string, params json.RawMessage, opts *client.CallOptions) (json.RawMessage, error)

// The states of a call that was asked something begin with one of these: the id
// of a flight follows, or the state of a stateless server.
const (
	flightState = "f:"
	serverState = "s:"
	noState     = "n:" // of a stateless server that gave none
)

// askedKey is the name of a flight's question.
const askedKey = "question"

// pass makes a call for a caller, who is asked what the server asks.
func (g *Gateway) pass(ctx context.Context, c *server.Call, do forward) (any, error) {
	can := c.ClientCapabilities()
	if can.Elicitation == nil && can.Sampling == nil && can.Roots == nil {
		params, err := onBehalf(c, can)
		if err != nil {
			return nil, err
		}
		return answer(do(ctx, c.Name, params, passOn(ctx, c)))
	}
	state, err := c.RequestState()
	if err != nil {
		return nil, err
	}
	responses, err := c.InputResponses()
	if err != nil {
		return nil, err
	}
	if id, ok := strings.CutPrefix(state, flightState); ok {
		fl := g.flights.take(id)
		if fl == nil {
			return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "the call that was asked about is over; make it anew")
		}
		if answer := responses[askedKey]; answer != nil {
			fl.pending.reply <- answer
			return g.fly(ctx, c, fl)
		}
		return g.askCaller(c, fl, fl.pending)
	}
	params, err := onBehalf(c, can)
	if err == nil {
		params, err = retried(params, responses, state)
	}
	if err != nil {
		return nil, err
	}
	fl, err := g.flights.begin(ctx, c, params, do)
	if err != nil {
		return nil, err
	}
	return g.fly(ctx, c, fl)
}

// fly waits for what comes of a flight: a question, or the result.
func (g *Gateway) fly(ctx context.Context, c *server.Call, fl *flight) (any, error) {
	if opts := passOn(ctx, c); opts != nil {
		fl.setReport(opts.Progress)
		defer fl.setReport(nil)
	}
	select {
	case q := <-fl.questions:
		return g.askCaller(c, fl, q)
	case <-fl.done:
	case <-ctx.Done():
		fl.cancel(context.Cause(ctx))
		<-fl.done
	}
	if fl.err == nil && asksForInput(fl.raw) {
		return fromStateless(fl.raw)
	}
	g.visits.noteError(c.Session(), fl.err)
	return fl.raw, ours(fl.err)
}

// askCaller returns the result that asks the caller, and parks the flight.
func (g *Gateway) askCaller(c *server.Call, fl *flight, q question) (any, error) {
	fl.pending = q
	g.visits.note(c.Session(), q.in.Elicit)
	id, ok := g.flights.park(fl)
	if !ok {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInternal, "too many calls of %s wait for an answer", c.Method)
	}
	return mcp.InputRequired(map[string]mcp.InputRequest{askedKey: q.in}, flightState+id), nil
}

// fromStateless is a stateless server's result that asks for input, with a state
// that tells whose it is.
func fromStateless(raw json.RawMessage) (any, error) {
	result := new(mcp.InputRequiredResult)
	if err := json.Unmarshal(raw, result); err != nil {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInternal, "the server asks for input in a malformed way")
	}
	state := noState
	if result.RequestState != nil {
		state = serverState + *result.RequestState
	}
	result.RequestState = &state
	return result, nil
}

// onBehalf returns the parameters of a call, with what the caller can do in their
// metadata: stateless callers have it there, for those with a session it is
// added, since a stateless server goes by it.
func onBehalf(c *server.Call, can mcp.ClientCapabilities) (json.RawMessage, error) {
	params := c.Params()
	if c.Modern() {
		return params, nil
	}
	object, meta := map[string]json.RawMessage{}, mcp.Meta{}
	if len(params) > 0 {
		if err := json.Unmarshal(params, &object); err != nil {
			return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "params are not a JSON object")
		}
	}
	if raw := object["_meta"]; len(raw) > 0 {
		if err := json.Unmarshal(raw, &meta); err != nil {
			return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "_meta is not an object")
		}
	}
	can.Tasks = nil // tasks are not passed on
	err := meta.Set(mcp.MetaClientCapabilities, can)
	if err == nil {
		object["_meta"], err = json.Marshal(meta)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(object)
}

// retried returns the parameters of a call with the answers to a stateless
// server's questions and its state, instead of those that are the gateway's.
func retried(params json.RawMessage, responses mcp.InputResponses, state string) (json.RawMessage, error) {
	if state == "" && len(responses) == 0 {
		return params, nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(params, &object); err != nil {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "params are not a JSON object")
	}
	delete(object, "requestState")
	delete(object, "inputResponses")
	var err error
	if own, ok := strings.CutPrefix(state, serverState); ok {
		if object["requestState"], err = json.Marshal(own); err != nil {
			return nil, err
		}
	}
	if len(responses) > 0 {
		if object["inputResponses"], err = json.Marshal(responses); err != nil {
			return nil, err
		}
	}
	return json.Marshal(object)
}

package httpserver

import (
	"context"
	"net/http"
	"sync"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// maxParallel is how many requests of a batch run at the same time.
const maxParallel = 16

// batch serves an array of messages, which one revision has. The answer is an
// array, or a stream with each response by itself.
func (x *exchange) batch(body []byte) {
	x.keepsGoing = true
	if stateless(x.version) {
		x.refuse(http.StatusBadRequest, jsonrpc.ID{}, errNoBatches)
		return
	}
	caller, ok := x.caller(jsonrpc.ID{})
	if !ok {
		return
	}
	items, e := x.items(caller, body)
	if e != nil {
		x.refuse(http.StatusBadRequest, jsonrpc.ID{}, e)
		return
	}
	if !x.permit(jsonrpc.ID{}, requests(items)...) {
		return
	}
	ctx, ok := x.begin(context.WithoutCancel(x.r.Context()), false)
	if !ok {
		return
	}
	x.watch()
	b := batch{x: x, caller: caller, slots: make(chan struct{}, maxParallel), responses: make([]*server.Response, len(items))}
	for i := range items {
		b.serve(ctx, i, &items[i])
	}
	b.running.Wait()
	b.conclude()
}

var errNoBatches = invalid("the revision of this request has no batches")

// items reads the messages, if the caller may send them in a batch.
func (x *exchange) items(caller *server.Session, body []byte) ([]entry, *jsonrpc.Error) {
	if !caller.Batches() {
		return nil, errNoBatches
	}
	items, err := x.h.srv.Limits().DecodeBatch(body)
	if err != nil {
		return nil, asWire(err)
	}
	entries := make([]entry, len(items))
	for i, item := range items {
		if item.Method == mcp.MethodInitialize {
			return nil, invalid("initialize must not be part of a batch")
		}
		entries[i].BatchItem = item
		if item.Err == nil && item.Kind() != jsonrpc.Response {
			entries[i].request(x)
		}
	}
	return entries, nil
}

// An entry is a message of a batch.
type entry struct {
	jsonrpc.BatchItem
	rq    *server.Request // nil for what is no request or notification
	wrong error           // with its parameters
}

func (e *entry) request(x *exchange) {
	e.rq, e.wrong = x.h.srv.Decode(e.Message)
	e.rq.Principal, e.rq.Header = x.principal, x.r.Header
	if e.wrong == nil && e.rq.Modern() {
		e.wrong = errNoBatches
	}
}

// requests returns the requests and notifications of a batch.
func requests(entries []entry) []*server.Request {
	var out []*server.Request
	for i := range entries {
		if entries[i].rq != nil {
			out = append(out, entries[i].rq)
		}
	}
	return out
}

// A batch is the messages of one POST while they are served.
type batch struct {
	x         *exchange
	caller    *server.Session
	slots     chan struct{}
	running   sync.WaitGroup     // the requests of the batch
	responses []*server.Response // in the order of the messages; nil for none
}

// serve serves one message; requests run on after it has returned.
func (b *batch) serve(ctx context.Context, i int, item *entry) {
	switch {
	case item.Err != nil && item.Error != nil:
		return // a malformed response
	case item.Err != nil:
		b.responses[i] = &server.Response{ID: item.ID, Error: asWire(item.Err)}
		return
	case item.Kind() == jsonrpc.Response:
		b.caller.Answer(item.Message)
		return
	}
	rq, err := item.rq, item.wrong
	switch {
	case rq.ID.IsZero():
		if err == nil {
			b.caller.Serve(ctx, rq, nil)
		}
	case err != nil:
		b.responses[i] = &server.Response{ID: rq.ID, Error: asWire(err)}
	default:
		b.slots <- struct{}{}
		b.running.Go(func() {
			defer func() { <-b.slots }()
			b.responses[i] = b.caller.Serve(ctx, rq, b.x.way())
		})
	}
}

// conclude sends what there is to answer.
func (b *batch) conclude() {
	var responses []*server.Response
	for _, response := range b.responses {
		if response != nil {
			responses = append(responses, response)
		}
	}
	if len(responses) == 0 {
		b.x.conclude(nil)
		return
	}
	streaming := b.x.finish()
	buf := jsonrpc.GetBuffer()
	defer jsonrpc.PutBuffer(buf)
	if streaming || !b.x.json {
		b.x.lastEvents(buf, responses...)
		return
	}
	for i, response := range responses {
		buf.WriteByte("[,"[min(i, 1)])
		response.Write(buf)
	}
	buf.WriteByte(']')
	b.x.answer(http.StatusOK, buf)
}

package httpserver

import (
	"net/http"

	"github.com/ferrymcp/ferry/httpserver/internal/web"
	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/server"
)

// post serves one message, or a batch.
func (h *Handler) post(w http.ResponseWriter, r *http.Request, principal string) {
	if !httpwire.IsJSON(r.Header.Get("Content-Type")) {
		web.Refuse(w, http.StatusUnsupportedMediaType, jsonrpc.ID{}, invalid("the Content-Type must be %s", httpwire.TypeJSON))
		return
	}
	accept := r.Header["Accept"]
	json, events := httpwire.Accepts(accept, httpwire.TypeJSON), httpwire.Accepts(accept, httpwire.TypeSSE)
	if !json && !events {
		web.Refuse(w, http.StatusNotAcceptable, jsonrpc.ID{}, invalid("the Accept header must allow %s", httpwire.AcceptBoth))
		return
	}
	body, err := web.ReadBody(r, h.opts.MaxBody)
	if err != nil {
		web.RefuseBody(w, err, h.opts.MaxBody)
		return
	}
	x := h.exchange(w, r)
	defer x.recycle()
	x.json, x.events, x.principal = json, events, principal
	rq, wrong := x.request(body)
	switch {
	case rq == nil:
	case rq.Modern() || stateless(x.version):
		x.modern(rq, wrong)
	default:
		x.legacy(rq, wrong)
	}
}

// request returns the request or notification in the body, and what is wrong with
// its parameters, if anything. It deals with everything else, and returns nil then.
func (x *exchange) request(body []byte) (rq *server.Request, wrong error) {
	if jsonrpc.IsBatch(body) {
		x.batch(body)
		return nil, nil
	}
	m, err := x.h.srv.Limits().Decode(body)
	if err != nil {
		if m.Error != nil {
			m.ID = jsonrpc.ID{} // it was a response, which is not answered
		}
		x.refuse(http.StatusBadRequest, m.ID, asWire(err))
		return nil, nil
	}
	if m.Kind() == jsonrpc.Response {
		x.response(m)
		return nil, nil
	}
	rq, wrong = x.h.srv.Decode(m)
	rq.Principal, rq.Header = x.principal, x.r.Header
	if !x.permit(rq.ID, rq) {
		return nil, nil
	}
	return rq, wrong
}

// permit reports whether the caller may make these requests, or refuses them.
func (x *exchange) permit(id jsonrpc.ID, requests ...*server.Request) bool {
	refusal := web.Lacks(x.r, requests...)
	if refusal == nil {
		return true
	}
	refusal.Challenge(x.W.Header())
	x.refuse(refusal.Status, id, invalid("%s", refusal.Message))
	return false
}

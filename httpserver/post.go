package httpserver

import (
	"errors"
	"io"
	"net/http"

	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/jsonrpc"
)

// firstRead is the most memory given to a body on the word of its
// Content-Length; more comes as the bytes do.
const firstRead = 64 << 10

// post serves one message, or a batch.
func (h *Handler) post(w http.ResponseWriter, r *http.Request, principal string) {
	if !httpwire.IsJSON(r.Header.Get("Content-Type")) {
		refuse(w, http.StatusUnsupportedMediaType, jsonrpc.ID{}, invalid("the Content-Type must be %s", httpwire.TypeJSON))
		return
	}
	accept := r.Header["Accept"]
	json, events := httpwire.Accepts(accept, httpwire.TypeJSON), httpwire.Accepts(accept, httpwire.TypeSSE)
	if !json && !events {
		refuse(w, http.StatusNotAcceptable, jsonrpc.ID{}, invalid("the Accept header must allow %s", httpwire.AcceptBoth))
		return
	}
	body, err := readBody(r, h.opts.MaxBody)
	if err != nil {
		refuseBody(w, err, h.opts.MaxBody)
		return
	}
	x := h.exchange(w, r)
	defer x.recycle()
	x.json, x.events, x.principal = json, events, principal
	x.message(body)
}

var errTooLarge = errors.New("the body is too large")

// readBody reads a body of at most limit bytes. The memory is not used again
// afterwards: the message refers to it, and handlers may keep parts of that.
func readBody(r *http.Request, limit int64) ([]byte, error) {
	size := r.ContentLength
	if size > limit {
		return nil, errTooLarge
	}
	if size < 0 {
		size = 511
	}
	// One byte more lets the end be seen without growing.
	body := make([]byte, 0, min(size+1, firstRead))
	for {
		n, err := r.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case int64(len(body)) > limit:
			return nil, errTooLarge
		case errors.Is(err, io.EOF):
			return body, nil
		case err != nil:
			return nil, err
		case len(body) == cap(body):
			body = append(body, 0)[:len(body)]
		}
	}
}

func refuseBody(w http.ResponseWriter, err error, limit int64) {
	w.Header().Set("Connection", "close") // there may be more of it
	if errors.Is(err, errTooLarge) {
		refuse(w, http.StatusRequestEntityTooLarge, jsonrpc.ID{}, invalid("the body has more than %d bytes", limit))
		return
	}
	refuse(w, http.StatusBadRequest, jsonrpc.ID{}, jsonrpc.Errorf(jsonrpc.CodeParse, "the body did not arrive whole"))
}

// message decides whose business the body is.
func (x *exchange) message(body []byte) {
	if jsonrpc.IsBatch(body) {
		x.batch(body)
		return
	}
	m, err := x.h.srv.Limits().Decode(body)
	if err != nil {
		if m.Error != nil {
			m.ID = jsonrpc.ID{} // it was a response, which is not answered
		}
		x.refuse(http.StatusBadRequest, m.ID, asWire(err))
		return
	}
	if m.Kind() == jsonrpc.Response {
		x.response()
		return
	}
	rq, err := x.h.srv.Decode(m)
	rq.Principal = x.principal
	if rq.Modern() || stateless(x.version) {
		x.modern(rq, err)
		return
	}
	x.legacy(rq, err)
}

package web

import (
	"errors"
	"io"
	"net/http"

	"github.com/ferrymcp/ferry/jsonrpc"
)

// firstRead is the most memory given to a body on the word of its
// Content-Length; more comes as the bytes do.
const firstRead = 64 << 10

var errTooLarge = errors.New("the body is too large")

// ReadBody reads a body of at most limit bytes. The memory is not used again
// afterwards: the message refers to it, and handlers may keep parts of that.
func ReadBody(r *http.Request, limit int64) ([]byte, error) {
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

// RefuseBody answers a request whose body ReadBody could not read.
func RefuseBody(w http.ResponseWriter, err error, limit int64) {
	w.Header().Set("Connection", "close") // there may be more of it
	if errors.Is(err, errTooLarge) {
		Refuse(w, http.StatusRequestEntityTooLarge, jsonrpc.ID{}, Invalid("the body has more than %d bytes", limit))
		return
	}
	Refuse(w, http.StatusBadRequest, jsonrpc.ID{}, jsonrpc.Errorf(jsonrpc.CodeParse, "the body did not arrive whole"))
}

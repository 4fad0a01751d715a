package web

import (
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/ferrymcp/ferry/jsonrpc"
)

// firstRead is the most memory given to a body on the word of its
// Content-Length alone. A body that has filled it gets up to maxRead, and more
// as the bytes come.
const (
	firstRead = 64 << 10
	maxRead   = 1 << 20
)

var errTooLarge = errors.New("the body is too large")

// beginnings holds room of firstRead bytes for what large bodies begin with.
var beginnings = sync.Pool{New: func() any { return new([firstRead]byte) }}

// ReadBody reads a body of at most limit bytes. The memory is not used again
// afterwards: the message refers to it, and handlers may keep parts of that.
func ReadBody(r *http.Request, limit int64) ([]byte, error) {
	size := r.ContentLength
	switch {
	case size > limit:
		return nil, errTooLarge
	case size < 0:
		size = 511
	case size >= firstRead:
		return readLarge(r, size, limit)
	}
	// One byte more lets the end be seen without growing.
	return readRest(r, make([]byte, 0, size+1), limit)
}

// readLarge reads a body of a known size. It gets memory of its own when
// firstRead bytes of it have come.
func readLarge(r *http.Request, size, limit int64) ([]byte, error) {
	beginning, _ := beginnings.Get().(*[firstRead]byte)
	defer beginnings.Put(beginning)
	if _, err := io.ReadFull(r.Body, beginning[:]); err != nil {
		return nil, err
	}
	body := make([]byte, firstRead, min(size+1, maxRead))
	copy(body, beginning[:])
	return readRest(r, body, limit)
}

func readRest(r *http.Request, body []byte, limit int64) ([]byte, error) {
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

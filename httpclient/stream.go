package httpclient

import (
	"errors"
	"io"
	"net/http"

	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/transport"
)

// stream reads the events that answer the request with the given id up to the
// response. What else comes goes to the receiver.
func (x *exchange) stream(body io.Reader, id jsonrpc.ID) (jsonrpc.Message, error) {
	r := x.readers.Get().(*httpwire.Reader)
	defer x.release(r)
	r.Reset(body)
	p := pending{x: x, id: id}
	for !p.answered {
		if err := p.event(r); err != nil {
			return jsonrpc.Message{}, x.broken(r, err)
		}
	}
	return p.response, p.err
}

// listen reads the standing stream until it ends. It calls opened, unless nil,
// when there is one.
func (x *exchange) listen(res *http.Response, opened func()) error {
	if res.StatusCode/100 != 2 {
		_, err := x.refusal(res, jsonrpc.ID{})
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if !httpwire.IsSSE(res.Header.Get("Content-Type")) {
		return newStatusError(res, nil, nil)
	}
	if opened != nil {
		opened()
	}
	r := x.readers.Get().(*httpwire.Reader)
	defer x.release(r)
	r.Reset(res.Body)
	p := pending{x: x}
	for {
		err := p.event(r)
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return nil
		default:
			return x.broken(r, err)
		}
	}
}

// event takes the next event. Events of other names and those without data,
// which only carry an id, are skipped.
func (p *pending) event(r *httpwire.Reader) error {
	e, err := r.Next()
	if err != nil {
		return err
	}
	if len(e.Data) > 0 && (e.Name == "" || e.Name == "message") {
		p.frame(e.Data)
	}
	return nil
}

// broken says how a stream ended before its time, and where it can be resumed.
func (x *exchange) broken(r *httpwire.Reader, err error) error {
	if errors.Is(err, httpwire.ErrEventTooLarge) {
		return &transport.FrameTooLargeError{Limit: x.opts.maxMessage()}
	}
	return &NoResponseError{Err: err, LastEventID: r.LastID(), Retry: r.Retry()}
}

// release gives a reader back without its stream.
func (c *conn) release(r *httpwire.Reader) {
	r.Reset(nil)
	c.readers.Put(r)
}

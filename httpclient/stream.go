package httpclient

import (
	"errors"
	"io"
	"net/http"

	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/transport"
)

// stream reads the events that answer the request m up to the response. What
// else comes goes to the receiver.
func (x *exchange) stream(res *http.Response, m *transport.Outgoing) (jsonrpc.Message, error) {
	f := feed{pending: pending{x: x, id: m.ID}, revision: m.Revision}
	for {
		err := f.read(res.Body)
		if err == nil {
			x.drain(res)
			return f.response, f.err
		}
		_ = res.Body.Close()
		if res, err = f.resume(err); err != nil {
			return jsonrpc.Message{}, err
		}
	}
}

// listen reads the standing stream until it ends. It calls opened, unless nil,
// when there is one.
func (x *exchange) listen(res *http.Response, revision string, opened func()) error {
	if res.StatusCode/100 != 2 {
		_, err := x.refusal(res, jsonrpc.ID{})
		return err
	}
	if !httpwire.IsSSE(res.Header.Get("Content-Type")) {
		_ = res.Body.Close()
		return newStatusError(res, nil, nil)
	}
	if opened != nil {
		opened()
	}
	f := feed{pending: pending{x: x}, revision: revision}
	for {
		ended := f.read(res.Body)
		_ = res.Body.Close()
		var err error
		if res, err = f.resume(ended); err == nil {
			continue
		}
		broken, ok := errors.AsType[*NoResponseError](err)
		switch {
		case !ok:
			return err
		case errors.Is(broken.Resuming, ErrSessionLost):
			return broken.Resuming
		case broken.Resuming != nil, errors.Is(ended, io.EOF):
			return nil // it may be opened anew
		}
		return err
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

// release gives a reader back without its stream.
func (c *conn) release(r *httpwire.Reader) {
	r.Reset(nil)
	c.readers.Put(r)
}

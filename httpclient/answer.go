package httpclient

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/transport"
)

// maxRefusal limits the body of an error answer, in bytes.
const maxRefusal = 1 << 20

// answer reads the answer to the request m, handing on what comes with the
// response, and returns the response. It leaves nothing of the body behind.
func (x *exchange) answer(res *http.Response, m *transport.Outgoing) (jsonrpc.Message, error) {
	contentType := res.Header.Get("Content-Type")
	switch {
	case res.StatusCode/100 != 2:
		return x.refusal(res, m.ID)
	case httpwire.IsSSE(contentType):
		return x.stream(res, m)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := readBody(res, x.opts.maxMessage())
	switch {
	case err != nil:
		return jsonrpc.Message{}, err
	case len(body) == 0:
		return jsonrpc.Message{}, &NoResponseError{Err: io.EOF}
	case contentType != "" && !httpwire.IsJSON(contentType):
		return jsonrpc.Message{}, newStatusError(res, body, nil)
	}
	p := pending{x: x, id: m.ID}
	p.frame(body)
	if !p.answered {
		return jsonrpc.Message{}, &NoResponseError{Err: cmp.Or(p.dropped, io.EOF)}
	}
	return p.response, p.err
}

// refusal reads an answer with an error status. A JSON-RPC error in the body is
// the response to the request with the given id; where there is no request, or
// the status asks for authorization, it is part of the *StatusError.
func (x *exchange) refusal(res *http.Response, id jsonrpc.ID) (jsonrpc.Message, error) {
	defer x.drain(res)
	response, body := x.refusalBody(res, id)
	sent := res.Request.Header.Get(httpwire.HeaderSessionID)
	if res.StatusCode == http.StatusNotFound && sent != "" && !methodNotFound(response) {
		x.lose(ErrSessionLost)
		return jsonrpc.Message{}, ErrSessionLost
	}
	err := newStatusError(res, body, response.Error)
	if id.IsZero() || err.IsAuth() || response.Error == nil {
		return jsonrpc.Message{}, err
	}
	response.ID = id
	return response, nil
}

// methodNotFound tells a server that does not know the method from one that
// does not know the session.
func methodNotFound(response jsonrpc.Message) bool {
	return response.Error != nil && response.Error.Code == jsonrpc.CodeMethodNotFound && !response.ID.IsZero()
}

// refusalBody returns the JSON-RPC error in the body of an error answer, if
// there is one, and the body.
func (x *exchange) refusalBody(res *http.Response, id jsonrpc.ID) (response jsonrpc.Message, body []byte) {
	if httpwire.IsSSE(res.Header.Get("Content-Type")) {
		r := httpwire.NewReader(res.Body, maxRefusal)
		for event, err := r.Next(); err == nil && len(body) == 0; event, err = r.Next() {
			body = event.Data
		}
	} else {
		// What came of a body that broke off still says something.
		body, _ = io.ReadAll(io.LimitReader(res.Body, maxRefusal))
	}
	m, err := jsonrpc.Decode(body)
	if err != nil || m.Error == nil || (m.ID != id && !m.ID.IsZero() && !id.IsZero()) {
		return jsonrpc.Message{}, body
	}
	return m, body
}

// readBody returns the body of res, which may have up to limit bytes.
func readBody(res *http.Response, limit int) ([]byte, error) {
	if res.ContentLength > int64(limit) {
		return nil, &transport.FrameTooLargeError{Limit: limit}
	}
	// Memory for the announced length, within reason, or for a usual message.
	size := int64(1024)
	if res.ContentLength >= 0 {
		size = min(res.ContentLength, 1<<20)
	}
	body := make([]byte, 0, size+1) // with room for the read that finds the end
	for {
		n, err := res.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case len(body) > limit:
			return nil, &transport.FrameTooLargeError{Limit: limit}
		case err == io.EOF:
			return body, nil
		case err != nil:
			return nil, &NoResponseError{Err: err}
		}
		if len(body) == cap(body) {
			body = append(body, 0)[:len(body)]
		}
	}
}

// A pending request takes the messages of its answer until the response comes.
type pending struct {
	x        *exchange
	id       jsonrpc.ID // zero on the standing stream
	answered bool
	response jsonrpc.Message
	err      error // why the response cannot be used
	dropped  error // why a message, the last one, was not taken
}

// frame takes a message, or a batch of them, which 2025-03-26 servers send.
func (p *pending) frame(frame []byte) {
	if !jsonrpc.IsBatch(frame) {
		m, err := jsonrpc.Decode(frame)
		p.message(frame, m, err)
		return
	}
	items, err := jsonrpc.DecodeBatch(frame)
	if err != nil {
		p.message(frame, jsonrpc.Message{}, err)
		return
	}
	for _, item := range items {
		p.message(frame, item.Message, item.Err)
	}
}

func (p *pending) message(frame []byte, m jsonrpc.Message, err error) {
	switch {
	case err == nil && m.Kind() != jsonrpc.Response:
		if p.x.recv != nil {
			p.x.recv.Receive(m, p.id)
		}
	case p.answers(m) && err == nil:
		p.answered, p.response = true, m
		p.response.ID = p.id
	case p.answers(m) && !m.ID.IsZero():
		// It cannot be read, and no other response will come.
		p.answered, p.err = true, &transport.MalformedError{Problem: err.Error()}
	default:
		if err == nil {
			err = fmt.Errorf("response to unknown request %q", m.ID)
		}
		p.dropped = err
		p.x.drop(frame, err)
	}
}

// answers reports whether m is the first response to the request. An error
// without an id is: nothing else was asked on this stream.
func (p *pending) answers(m jsonrpc.Message) bool {
	if p.answered || p.id.IsZero() || m.Method != "" {
		return false
	}
	return m.ID == p.id || (m.ID.IsZero() && m.Error != nil)
}

func (c *conn) drop(frame []byte, reason error) {
	if c.stray != nil {
		c.stray.Stray(frame, reason)
	}
}

// How long and how much of a body is read after the response has come. Only
// when the body was read to its end can its connection be used again.
const (
	drainTime  = 10 * time.Millisecond
	drainBytes = 64 << 10
)

// drain reads what is left of an answer, which mostly is nothing, and closes it.
func (x *exchange) drain(res *http.Response) {
	if res.ProtoMajor < 2 && x.ctx.Err() == nil { // later versions close streams without the connection
		t := time.AfterFunc(drainTime, x.cancel)
		_, _ = io.CopyN(io.Discard, res.Body, drainBytes)
		t.Stop()
	}
	_ = res.Body.Close()
}

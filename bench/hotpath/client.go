package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// serving counts what ends with the process.
var serving sync.WaitGroup

func serve(f func()) { serving.Go(f) }

// setVersion sets the header that names the revision of the frames.
func setVersion(h http.Header, session bool) error {
	var opens struct {
		Params struct{ ProtocolVersion string }
	}
	var stateless struct {
		Params struct {
			Meta map[string]any `json:"_meta"`
		}
	}
	if err := errors.Join(json.Unmarshal(frame("initialize"), &opens), json.Unmarshal(frame("echo-modern"), &stateless)); err != nil {
		return err
	}
	version := opens.Params.ProtocolVersion
	if !session {
		version = fmt.Sprint(stateless.Params.Meta["io.modelcontextprotocol/protocolVersion"])
	}
	h.Set("Mcp-Protocol-Version", version)
	return nil
}

// reply is what a server with sessions answers to the message; nil for a
// notification.
func reply(message []byte) []byte {
	_, rest, found := bytes.Cut(message, []byte(`"id":`))
	if !found {
		return nil
	}
	end := bytes.IndexAny(rest, ",}")
	out := append(make([]byte, 0, 512), `{"jsonrpc":"2.0","id":`...)
	out = append(out, rest[:end]...)
	switch {
	case bytes.Contains(message, []byte(`"method":"tools/call"`)):
		out = append(append(out, `,"result":`...), echoed...)
	case bytes.Contains(message, []byte(`"method":"initialize"`)):
		out = append(append(out, `,"result":`...), frame("answer-initialize")...)
	default:
		return append(out, `,"error":{"code":-32601,"message":"method not found"}}`...)
	}
	return append(out, '}')
}

var echoed = frame("answer-echo")

// A peer is a server at the other end of a connection, as small as can be.
type peer struct {
	replies chan []byte
	once    sync.Once
}

// Read implements transport.Conn.
func (p *peer) Read() ([]byte, error) {
	f, ok := <-p.replies
	if !ok {
		return nil, io.EOF
	}
	return f, nil
}

// Write implements transport.Conn.
func (p *peer) Write(f []byte) error {
	if r := reply(f); r != nil {
		p.replies <- r
	}
	return nil
}

// Close implements transport.Conn.
func (p *peer) Close() error {
	p.once.Do(func() { close(p.replies) })
	return nil
}

// RoundTrip implements http.RoundTripper.
func (p *peer) RoundTrip(r *http.Request) (*http.Response, error) {
	res := &http.Response{StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Request: r, Header: http.Header{}, Body: http.NoBody}
	if r.Method != http.MethodPost {
		res.StatusCode = http.StatusMethodNotAllowed
		return res, nil
	}
	message, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if answer := reply(message); answer != nil {
		res.Header["Content-Type"] = []string{"application/json"}
		res.Header["Content-Length"] = []string{strconv.Itoa(len(answer))}
		res.ContentLength = int64(len(answer))
		res.Body = io.NopCloser(bytes.NewReader(answer))
	} else {
		res.StatusCode = http.StatusAccepted
	}
	return res, nil
}

func clientOverConn(ctx context.Context) (func() error, error) {
	p := &peer{replies: make(chan []byte, 4)}
	return calls(ctx, transport.Dial(func(context.Context) (transport.Conn, error) { return p, nil }))
}

func clientOverHTTP(ctx context.Context) (func() error, error) {
	return calls(ctx, httpclient.New("http://127.0.0.1/mcp", &httpclient.Options{Client: &http.Client{Transport: &peer{}}}))
}

// calls makes a client and returns what calls the tool echo. The session ends
// with the process.
func calls(ctx context.Context, to transport.Transport) (func() error, error) {
	sess, err := client.New(mcp.Implementation{Name: "hotpath", Version: "1.0.0"}, nil).Connect(ctx, to)
	if err != nil {
		return nil, err
	}
	var message struct {
		Params mcp.CallToolParams
	}
	if err := json.Unmarshal(frame("echo"), &message); err != nil {
		return nil, err
	}
	return func() error {
		result, err := sess.CallTool(ctx, &message.Params, nil)
		if err != nil {
			return err
		}
		if len(result.Content) != 1 || len(result.Content[0].Text) != 255 {
			return fmt.Errorf("not what was said: %+v", result)
		}
		return nil
	}, nil
}

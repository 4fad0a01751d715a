package transport

import (
	"bytes"
	"errors"

	"github.com/ferrymcp/ferry/jsonrpc"
)

// encodeRequest appends the request m to buf.
func encodeRequest(buf *bytes.Buffer, m *Outgoing) error {
	if m.ID.IsZero() || m.Method == "" {
		return errors.New("a request needs an id and a method")
	}
	return jsonrpc.WriteRequest(buf, m.ID, m.Method, m.Params)
}

// encodeOneWay appends the notification or response m to buf.
func encodeOneWay(buf *bytes.Buffer, m *Outgoing) error {
	switch {
	case m.Method != "" && !m.ID.IsZero():
		return errors.New("a request needs RoundTrip, not Send")
	case m.Method != "":
		return jsonrpc.WriteNotification(buf, m.Method, m.Params)
	case m.Error != nil:
		jsonrpc.WriteError(buf, m.ID, m.Error)
		return nil
	case m.ID.IsZero():
		return errors.New("a response needs an id")
	default:
		return jsonrpc.WriteResult(buf, m.ID, m.Result)
	}
}

package jsonrpc

import (
	"encoding/json"
)

// A Message is one decoded JSON-RPC message: a request, a notification or a
// response. Its raw parts refer to the bytes it was decoded from, which must
// not change while the message is in use.
type Message struct {
	// ID is the request id. It is zero for a notification, and for an error
	// response whose request could not be read.
	ID ID
	// Method is set on requests and notifications.
	Method string
	// Params holds the undecoded parameters; nil when the member is absent or null.
	Params json.RawMessage
	// Result holds the undecoded result of a successful response; nil otherwise.
	Result json.RawMessage
	// Error is set on error responses.
	Error *Error
}

// Kind tells what a message is.
func (m *Message) Kind() Kind {
	switch {
	case m.Method == "":
		return Response
	case m.ID.IsZero():
		return Notification
	default:
		return Request
	}
}

// Kind is one of the three kinds of message.
type Kind uint8

// The kinds of message.
const (
	Request Kind = iota
	Notification
	Response
)

// String returns the kind in words, for logs.
func (k Kind) String() string {
	switch k {
	case Request:
		return "request"
	case Notification:
		return "notification"
	default:
		return "response"
	}
}

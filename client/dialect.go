package client

import (
	"encoding/json"

	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// A dialect is how a server is spoken to: with a session, or statelessly. It is
// chosen once, by the negotiation, and everything else goes through it.
type dialect interface {
	revision() *revision.Revision
	// request puts what the revision asks for into a request. Progress is asked
	// for under the token unless it is zero.
	request(m *transport.Outgoing, token jsonrpc.ID) error
	// oneWay does the same for a notification or a response.
	oneWay(m *transport.Outgoing)
	// received sees every result and returns what the caller gets of it.
	received(method string, raw json.RawMessage) json.RawMessage
	// final returns nil if raw is the answer that was asked for, rather than
	// one that wants something first.
	final(method string, raw json.RawMessage) error
	// ping returns the method that asks for a sign of life.
	ping() string
	// level notes which log messages are wanted, and reports whether the server
	// has to be told with a request.
	level(mcp.LoggingLevel) (tell bool)
	// more reports whether a list goes on after a page with this cursor.
	more(next *string) bool
	// feed brings what a subscription asks for, until it is over. An error says
	// why it is.
	feed(sub *Subscription) error
	// renewable reports whether a session that the server lost can be had anew.
	renewable() bool
}

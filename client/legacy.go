package client

import (
	"encoding/json"
	"fmt"

	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// legacy speaks the revisions that open a session with initialize.
type legacy struct {
	rev *revision.Revision
	// header is the revision's name where carriers repeat it, else empty.
	header string
	meta   metaFields // none, for progress tokens
}

func newLegacy(rev *revision.Revision) *legacy {
	l := &legacy{rev: rev}
	if rev.Has(revision.VersionHeader) {
		l.header = rev.Name()
	}
	return l
}

func (l *legacy) revision() *revision.Revision { return l.rev }

func (l *legacy) request(m *transport.Outgoing, token jsonrpc.ID) error {
	m.Revision = l.header
	if token.IsZero() {
		return nil
	}
	params, err := l.meta.put(m.Params, token)
	if err != nil {
		return fmt.Errorf("%s: encode params: %w", m.Method, err)
	}
	m.Params = params
	return nil
}

func (l *legacy) oneWay(m *transport.Outgoing) { m.Revision = l.header }

func (l *legacy) received(_ string, raw json.RawMessage) json.RawMessage { return raw }

func (l *legacy) final(string, json.RawMessage) error { return nil }

func (l *legacy) ping() string { return mcp.MethodPing }

func (l *legacy) level(mcp.LoggingLevel) bool { return true }

// more takes an empty cursor for the end: servers that write one mean it.
func (l *legacy) more(next *string) bool { return next != nil && *next != "" }

func (l *legacy) renewable() bool { return true }

package host

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/ferrymcp/ferry/mcp"
)

// A read may go to several servers until one has the resource. When one of them
// asks for input first, the answers are for it alone: the state of its result
// is given its name, and the call that brings the state back goes nowhere else.
//
//	requestState = name of the server, NUL, "s" and its own state or "-" for none

const (
	memberState = "requestState"
	ownState    = "s"
	noState     = "-"
)

// askedBy puts the name of a server into the state of a result of its that asks
// for input.
func askedBy(name string, result json.RawMessage) json.RawMessage {
	if !bytes.Contains(result, []byte(mcp.ResultInputRequired)) {
		return result
	}
	asks, state := false, noState
	out, err := edit(result, func(m member) (json.RawMessage, bool) {
		switch m.name() {
		case "resultType":
			asks = asks || string(m.value) == string(quote(mcp.ResultInputRequired))
		case memberState:
			var own *string
			if json.Unmarshal(m.value, &own) == nil && own != nil {
				state = ownState + *own
			}
			return nil, false
		}
		return m.value, true
	})
	if err != nil || !asks {
		return result
	}
	return put(out, memberState, quote(name+"\x00"+state))
}

// whoAsked takes the name out again, and leaves the state that is the server's
// own. It is empty when there is none.
func whoAsked(params json.RawMessage) (name string, rest json.RawMessage) {
	if !bytes.Contains(params, []byte(memberState)) {
		return "", params
	}
	rest, err := edit(params, func(m member) (json.RawMessage, bool) {
		var state string
		if m.name() != memberState || json.Unmarshal(m.value, &state) != nil {
			return m.value, true
		}
		by, own, marked := strings.Cut(state, "\x00")
		if !marked {
			return m.value, true
		}
		name = by
		own, kept := strings.CutPrefix(own, ownState)
		return quote(own), kept
	})
	if err != nil {
		return "", params
	}
	return name, rest
}

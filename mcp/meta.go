package mcp

import (
	stdjson "encoding/json"
	"fmt"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/jsonrpc"
)

// Meta is the _meta member of a message: values under keys that extensions and
// applications agree on. A nil Meta means that the member is absent.
type Meta map[string]stdjson.RawMessage

// The keys that the protocol itself uses in Meta.
const (
	// MetaProtocolVersion is the revision of a request in the stateless
	// revision, a string.
	MetaProtocolVersion = "io.modelcontextprotocol/protocolVersion"
	// MetaClientInfo is who sends a request in the stateless revision, an
	// Implementation.
	MetaClientInfo = "io.modelcontextprotocol/clientInfo"
	// MetaClientCapabilities is what the sender of a request can do in the
	// stateless revision, a ClientCapabilities.
	MetaClientCapabilities = "io.modelcontextprotocol/clientCapabilities"
	// MetaLogLevel asks for log messages about a request in the stateless
	// revision, a LoggingLevel.
	MetaLogLevel = "io.modelcontextprotocol/logLevel"
	// MetaServerInfo is who answers in the stateless revision, an
	// Implementation.
	MetaServerInfo = "io.modelcontextprotocol/serverInfo"
	// MetaSubscriptionID is the id of the subscriptions/listen request that a
	// notification belongs to, a string or an integer.
	MetaSubscriptionID = "io.modelcontextprotocol/subscriptionId"
	// MetaRelatedTask is the task that a message belongs to, a RelatedTask.
	// Only the revision with core tasks has it.
	MetaRelatedTask = "io.modelcontextprotocol/related-task"
	// MetaProgressToken asks for progress of a request, a string or an
	// integer.
	MetaProgressToken = "progressToken"
)

// Get decodes the value under key into v and reports whether there is one. A
// null counts as none.
func (m Meta) Get(key string, v any) (bool, error) {
	return getMember(m, key, v)
}

// Set encodes v under key, making the map if there is none.
func (m *Meta) Set(key string, v any) error {
	if *m == nil {
		*m = make(Meta, 1)
	}
	return setMember(*m, key, v)
}

// ProgressToken returns the token under MetaProgressToken. It is zero when there
// is none or when it is neither a string nor an integer.
func (m Meta) ProgressToken() jsonrpc.ID { return m.id(MetaProgressToken) }

// SubscriptionID returns the id under MetaSubscriptionID. It is zero when there
// is none or when it is neither a string nor an integer.
func (m Meta) SubscriptionID() jsonrpc.ID { return m.id(MetaSubscriptionID) }

func (m Meta) id(key string) jsonrpc.ID {
	raw, ok := m[key]
	if !ok {
		return jsonrpc.ID{}
	}
	id, err := jsonrpc.ParseID(raw)
	if err != nil {
		return jsonrpc.ID{}
	}
	return id
}

// getMember decodes one value of a map of raw values.
func getMember(m map[string]stdjson.RawMessage, key string, v any) (bool, error) {
	raw, ok := m[key]
	if !ok || string(raw) == "null" {
		return false, nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return true, fmt.Errorf("decode %q: %w", key, err)
	}
	return true, nil
}

// setMember encodes one value into a map of raw values.
func setMember(m map[string]stdjson.RawMessage, key string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %q: %w", key, err)
	}
	m[key] = raw
	return nil
}

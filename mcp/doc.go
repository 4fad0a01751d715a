// Package mcp holds the messages of the Model Context Protocol as Go types:
// tools, resources, prompts, content blocks, capabilities and the parameters
// and results of every method.
//
// It is data and nothing else: it does no I/O, knows no carrier and takes no
// decision that depends on a protocol revision. There is one set of types for
// all revisions. Its shape is that of the newest one, plus the fields that only
// older ones have; who speaks to a peer removes what that peer does not know.
//
// # Conventions
//
// A pointer, a nil slice, a nil map or a nil json.RawMessage means that the
// member is absent. Where absent and zero mean the same, plain values are used.
// Members that the protocol requires are always written, even when zero.
//
// All types can be encoded and decoded with encoding/json and with its second
// version. The packages of this module use the latter, which writes a required
// nil slice as [] where encoding/json writes null.
//
// Decoding is tolerant: unknown members are ignored, null counts as absent
// unless it has a meaning of its own, and content blocks of an unknown type are
// kept as they are and written back unchanged.
package mcp

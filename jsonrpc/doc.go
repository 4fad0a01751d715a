// Package jsonrpc reads and writes JSON-RPC 2.0 messages.
//
// [Decode] checks a whole frame in one pass and splits its envelope; params,
// results and error data stay undecoded. The writers ([WriteRequest],
// [WriteNotification], [WriteResult], [WriteError]) encode a message in one
// step into a buffer. The package knows neither methods nor streams: who reads
// frames and who answers them is the business of others.
//
// # Strictness
//
// Two readers of one message must not understand it differently, so there is
// one reading. Names are compared exactly and after their escapes are
// resolved; a name that occurs twice in an object, at any depth, is refused, as
// are invalid UTF-8, lone surrogates, control characters in strings, and
// anything after the message. Members of the envelope that JSON-RPC does not
// define are checked like the rest and otherwise ignored.
//
// # Aliasing
//
// A [Message] refers to the frame it was decoded from: its id, method and raw
// members are parts of it, not copies. The frame must not change while any of
// them is in use, and one that is kept, such as an id in a table, keeps the
// whole frame in memory; copy it with [ID.Clone] or bytes.Clone if that
// matters. Decoding a request allocates nothing.
package jsonrpc

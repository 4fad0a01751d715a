// Package client talks to servers of the Model Context Protocol.
//
// A [Client] says who connects. [Client.Connect] opens a transport, finds out
// which revisions the server speaks, and returns a [Session]: typed calls for
// the methods of the protocol, iterators over lists, and [Session.Call] for
// everything else. Which revision is in use does not show in the calls.
//
// The package does not know how messages travel; see package transport for
// that, and package httpclient for HTTP.
//
// How a call travels:
//
//	typed call → Session.Call → dialect (what the revision asks for) → RoundTripper
//
// and what the server sends by itself:
//
//	RoundTripper → link.Receive → progress of a call in flight (on its caller's goroutine)
//	                            → the subscriptions it is for (what waits there is a set)
//	                            → Options.OnNotification (on one goroutine per session)
//	                            → serve.go (requests, each on a goroutine of its own)
//
// What a server asks goes to the same handlers of [Options] in all revisions.
// With sessions it asks with requests of its own; stateless servers answer a
// call with what they want to know, and the session repeats the call with the
// answers (rounds.go).
//
// # Errors
//
// What the server answered is a [*jsonrpc.Error]; [IsRemote] asks for it. A
// server that could not be reached is an [*UnreachableError], an answer that
// makes no sense a [*ProtocolError], and no answer in time a [*TimeoutError].
// A question of the server that nobody answered is an [*InputRequiredError], one
// that could not be answered an [*InputError]. A [*NotOfferedError] tells that a
// server does not tell of the changes that [Session.Subscribe] asked for.
//
// The end of a call's context cancels it at the server. The server is told why if
// the cause of the context is a [*CancelError].
package client

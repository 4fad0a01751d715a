// Package server is the server side of the protocol: one [Server] value holds
// tools, resources and prompts and serves every revision, on every carrier, to
// any number of clients at the same time.
//
// # The way of a message
//
//	carrier     ServeConn (stdio, pipes) or package httpserver
//	 │          jsonrpc.Decode: the envelope, once
//	 ▼
//	Decode      the parameters, once: method, name, _meta          request.go
//	 │
//	 ▼
//	caller      who asks: Session (initialize handshake)           session.go
//	            or exchange (stateless, _meta names a revision)    exchange.go
//	 ▼
//	serve       is the method in this revision? → middleware →     serve.go
//	            view → feature → handler → encoding for the peer
//	 ▼
//	Response    written by the carrier into one buffer             response.go
//
// Every arrow is a function call. What a handler sends meanwhile (progress,
// log messages) goes to the [Sink] of its own request, before the response.
//
// The package does not know HTTP, processes or sockets.
package server

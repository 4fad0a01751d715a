// Package httpserver serves a [server.Server] over HTTP: clients of every
// revision, with and without sessions, at one URL.
//
// A [Handler] is an http.Handler for any mux. It holds what HTTP adds to the
// protocol, and nothing else: header and origin checks, sessions, event
// streams and status codes.
//
// # The way of a request
//
//	ServeHTTP   Host, Origin, principal                     internal/web
//	 ▼
//	post        media types, size, the body, its envelope   post.go
//	 │
//	 ├─ the body or a header names a stateless revision     modern.go
//	 │    headers against body → Server.Serve
//	 └─ else                                                legacy.go
//	      Mcp-Session-Id → session → Session.Serve          session.go
//	 ▼
//	exchange    one JSON answer, or events from the first   exchange.go
//	            message that comes before the response on
//
// All of it runs in the goroutine of net/http. GET opens the standing stream of a
// session (stream.go) or resumes a stream, DELETE ends the session.
//
// # Disconnecting
//
// A client of a stateless revision that closes its connection has cancelled
// the request. A client with a session has not: its request runs on until it
// is done, cancelled by notifications/cancelled, or the session ends.
//
// What such a client misses is kept in Options.Log for a while (replay.go). Its
// events have ids, and GET with Last-Event-ID brings those that came later on
// the same stream, then those that are still to come, the response included. An
// id that is not known is refused with status 400, one after which something is
// not kept any more with 410.
package httpserver

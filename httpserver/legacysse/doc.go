// Package legacysse serves MCP over HTTP+SSE, the transport of the oldest
// revision (2024-11-05/basic/transports#http-with-sse), for clients that know
// no other. A client opens an event stream with GET, is told there where to
// POST its messages, and gets all answers on the stream.
//
// New clients use package httpserver's endpoint; a server keeps this one beside
// it for as long as old clients come. Nothing else depends on this package.
package legacysse

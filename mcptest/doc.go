// Package mcptest helps to test servers and clients of the protocol, and what
// is built on them. [Pair] connects a client to a server in memory, [Serve]
// puts a server behind a loopback URL, and [Matrix] runs one test over every
// revision and every carrier. Everything is closed when the test ends.
package mcptest

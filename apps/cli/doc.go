// Package cli is the command line of Ferry: it serves MCP servers at one
// endpoint and talks to servers from the shell. It reads flags and arguments
// and prints; what it shows and serves comes from the packages it calls.
//
// Data goes to standard output and everything else to standard error, so that
// output can be piped. What a server says is cleaned of control characters
// before it is shown on a terminal.
package cli

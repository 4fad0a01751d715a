// Package gateway makes many servers look like one. It keeps a server.Server
// in step with the catalog of a host.Host, and passes calls on: parameters and
// results stay raw JSON, so what the gateway does not know goes through it
// unharmed.
//
// The way of a call:
//
//	client → server.Server → raw handler (proxy.go) → host.Host → client.Session → server
//
// and that of a change:
//
//	server → host.Host (catalog) → Gateway (sync.go) → server.Server → list_changed
//
// Either side may speak any revision: the server package gives results the
// form that the caller's revision asks for.
//
// Open builds all that from a configuration: commands, URLs, and the servers
// that come with this program, which take the same way over a pipe.
package gateway

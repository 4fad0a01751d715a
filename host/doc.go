// Package host holds many servers under one owner: it connects to all of
// them, keeps them connected, and shows what they offer as one catalog.
//
// A server that is slow or down does not hold up the others: [Host.Start] waits
// a short time, and whoever comes later joins then. A lost connection is
// noticed, its features leave the catalog, and it is connected again with
// growing pauses.
//
// # Names
//
// A tool is shown as the server's prefix, a separator and its own name. A name
// that is too long gets a shorter alias that ends in a hash and stays the
// same. When two tools would have the same name the server that was added
// first keeps it; the other's tool gets the name of its server in front, or a
// hash behind. A server that is down keeps the names it had, so that a
// call never reaches another tool than the one that was shown. Prompts are named
// the same way. The URIs of resources are never changed: of two
// servers with the same URI the first has it.
//
// # Calls
//
// Parameters and results are raw JSON and pass through as they are, but for
// the name and the metadata that belongs to one connection. What a server
// answers with is a *jsonrpc.Error, as it came; a server that is not reached
// or makes no sense is an *[UpstreamError].
package host

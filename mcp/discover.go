package mcp

// DiscoverParams are the parameters of server/discover.
type DiscoverParams = EmptyParams

// DiscoverResult is the result of server/discover, with which a client of the
// stateless revision learns what a server can do. What the server is stands in
// its metadata under MetaServerInfo.
type DiscoverResult struct {
	Result
	Cache
	// SupportedVersions are the revisions the server speaks; nil is written as
	// [].
	SupportedVersions []string `json:"supportedVersions"`
	// Capabilities is what the server can do.
	Capabilities ServerCapabilities `json:"capabilities"`
	// Instructions tell a model how to use the server.
	Instructions string `json:"instructions,omitzero"`
}

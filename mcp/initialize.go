package mcp

// InitializeParams are the parameters of initialize, with which a session of an
// older revision begins.
type InitializeParams struct {
	// Meta is the metadata of the request; nil means none.
	Meta Meta `json:"_meta,omitzero"`
	// ProtocolVersion is the newest revision the client wants to speak.
	ProtocolVersion string `json:"protocolVersion"`
	// Capabilities is what the client can do.
	Capabilities ClientCapabilities `json:"capabilities"`
	// ClientInfo tells what the client is.
	ClientInfo Implementation `json:"clientInfo"`
}

// InitializeResult is the result of initialize.
type InitializeResult struct {
	Result
	// ProtocolVersion is the revision the session speaks. A client that does not
	// know it must disconnect.
	ProtocolVersion string `json:"protocolVersion"`
	// Capabilities is what the server can do.
	Capabilities ServerCapabilities `json:"capabilities"`
	// ServerInfo tells what the server is.
	ServerInfo Implementation `json:"serverInfo"`
	// Instructions tell a model how to use the server.
	Instructions string `json:"instructions,omitzero"`
}

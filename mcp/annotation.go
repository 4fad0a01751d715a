package mcp

// Annotations are hints to a client about content or a resource.
type Annotations struct {
	// Audience is whom it is for; nil means that nothing is said.
	Audience []Role `json:"audience,omitzero"`
	// Priority is how important it is, from 0, entirely optional, to 1,
	// effectively required; nil means that nothing is said.
	Priority *float64 `json:"priority,omitzero"`
	// LastModified is when it changed last, in ISO 8601. Older revisions do not
	// have it.
	LastModified string `json:"lastModified,omitzero"`
}

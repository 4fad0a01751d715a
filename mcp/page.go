package mcp

// PageParams are the parameters of all list requests.
type PageParams struct {
	// Meta is the metadata of the request; nil means none.
	Meta Meta `json:"_meta,omitzero"`
	// Cursor is the NextCursor of the page before, which may be ""; nil asks for
	// the first page.
	Cursor *string `json:"cursor,omitzero"`
}

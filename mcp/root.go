package mcp

// Root is a folder or file that a server may work in.
type Root struct {
	// URI is where it is. It begins with file://.
	URI string `json:"uri"`
	// Name is the name to show to people.
	Name string `json:"name,omitzero"`
	// Meta is the metadata of the root; nil means none. The oldest revisions do
	// not have it.
	Meta Meta `json:"_meta,omitzero"`
}

// ListRootsResult is the result of roots/list.
type ListRootsResult struct {
	Result
	// Roots are all roots; nil is written as [].
	Roots []Root `json:"roots"`
}

package skills

import "github.com/ferrymcp/ferry/mcp"

// listParams are the parameters of skills/list and resources/directory/read.
type listParams struct {
	URI    string  `json:"uri,omitzero"`
	Cursor *string `json:"cursor,omitzero"`
}

// getParams are the parameters of skills/get.
type getParams struct {
	URI string `json:"uri"`
}

// listResult is the result of skills/list.
type listResult struct {
	mcp.Result
	mcp.Cache

	Skills     []Skill `json:"skills"`
	NextCursor *string `json:"nextCursor,omitzero"`
}

func (r *listResult) next() *string { return r.NextCursor }

// getResult is the result of skills/get.
type getResult struct {
	mcp.Result
	mcp.Cache

	Skill Skill `json:"skill"`
}

// directoryResult is the result of resources/directory/read.
type directoryResult struct {
	mcp.Result

	Resources  []mcp.Resource `json:"resources"`
	NextCursor *string        `json:"nextCursor,omitzero"`
}

func (r *directoryResult) next() *string { return r.NextCursor }

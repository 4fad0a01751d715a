package mcp

import "github.com/ferrymcp/ferry/jsonrpc"

// ProgressParams are the parameters of notifications/progress.
type ProgressParams struct {
	// Meta is the metadata of the notification; nil means none.
	Meta Meta `json:"_meta,omitzero"`
	// ProgressToken is the token of the request that asked for progress.
	ProgressToken jsonrpc.ID `json:"progressToken"`
	// Progress is how much is done. It grows with each notification.
	Progress float64 `json:"progress"`
	// Total is how much there is to do; nil means unknown.
	Total *float64 `json:"total,omitzero"`
	// Message tells what is being done. The oldest revision does not have it.
	Message string `json:"message,omitzero"`
}

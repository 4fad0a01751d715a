package mcp

import "github.com/ferrymcp/ferry/jsonrpc"

// CancelledParams are the parameters of notifications/cancelled.
type CancelledParams struct {
	// Meta is the metadata of the notification; nil means none.
	Meta Meta `json:"_meta,omitzero"`
	// RequestID is the request that is given up.
	RequestID jsonrpc.ID `json:"requestId,omitzero"`
	// Reason tells why, for logs.
	Reason string `json:"reason,omitzero"`
}

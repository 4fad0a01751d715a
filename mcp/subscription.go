package mcp

// ListenParams are the parameters of subscriptions/listen, which opens a stream
// of notifications in the stateless revision.
type ListenParams struct {
	// Meta is the metadata of the request; nil means none.
	Meta Meta `json:"_meta,omitzero"`
	// Notifications is what the client wants to hear about.
	Notifications SubscriptionFilter `json:"notifications"`
}

// SubscriptionFilter is a choice of notifications. The zero value chooses none.
type SubscriptionFilter struct {
	// ToolsListChanged chooses changes of the list of tools.
	ToolsListChanged bool `json:"toolsListChanged,omitzero"`
	// PromptsListChanged chooses changes of the list of prompts.
	PromptsListChanged bool `json:"promptsListChanged,omitzero"`
	// ResourcesListChanged chooses changes of the list of resources.
	ResourcesListChanged bool `json:"resourcesListChanged,omitzero"`
	// ResourceSubscriptions are the URIs of resources whose changes are chosen;
	// nil means none.
	ResourceSubscriptions []string `json:"resourceSubscriptions,omitzero"`
}

// AcknowledgedParams are the parameters of
// notifications/subscriptions/acknowledged, the first message of a stream. Its
// metadata names the request under MetaSubscriptionID.
type AcknowledgedParams struct {
	// Meta is the metadata of the notification; nil means none.
	Meta Meta `json:"_meta,omitzero"`
	// Notifications is what the server will send of what was asked for.
	Notifications SubscriptionFilter `json:"notifications"`
}

// ListenResult is the result of subscriptions/listen, which ends the stream. Its
// metadata names the request under MetaSubscriptionID.
type ListenResult struct {
	Result
}

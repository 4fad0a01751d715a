package mcp

// The methods of all revisions.
const (
	// MethodInitialize begins a session in older revisions.
	MethodInitialize = "initialize"
	// MethodPing asks whether the peer is there in older revisions.
	MethodPing = "ping"
	// MethodServerDiscover asks what a server can do in the stateless revision.
	MethodServerDiscover = "server/discover"
	// MethodSubscriptionsListen opens a stream of notifications in the stateless
	// revision.
	MethodSubscriptionsListen = "subscriptions/listen"
	// MethodToolsList lists tools.
	MethodToolsList = "tools/list"
	// MethodToolsCall calls a tool.
	MethodToolsCall = "tools/call"
	// MethodPromptsList lists prompts.
	MethodPromptsList = "prompts/list"
	// MethodPromptsGet gets a prompt.
	MethodPromptsGet = "prompts/get"
	// MethodResourcesList lists resources.
	MethodResourcesList = "resources/list"
	// MethodResourcesTemplatesList lists resource templates.
	MethodResourcesTemplatesList = "resources/templates/list"
	// MethodResourcesRead reads a resource.
	MethodResourcesRead = "resources/read"
	// MethodResourcesSubscribe watches a resource in older revisions.
	MethodResourcesSubscribe = "resources/subscribe"
	// MethodResourcesUnsubscribe stops watching a resource in older revisions.
	MethodResourcesUnsubscribe = "resources/unsubscribe"
	// MethodCompletionComplete completes an argument.
	MethodCompletionComplete = "completion/complete"
	// MethodLoggingSetLevel chooses log messages in older revisions.
	MethodLoggingSetLevel = "logging/setLevel"
	// MethodRootsList asks a client for its roots.
	MethodRootsList = "roots/list"
	// MethodSamplingCreateMessage asks a client's model.
	MethodSamplingCreateMessage = "sampling/createMessage"
	// MethodElicitationCreate asks a client's user.
	MethodElicitationCreate = "elicitation/create"
	// MethodTasksGet asks how far a task is.
	MethodTasksGet = "tasks/get"
	// MethodTasksResult waits for the result of a core task.
	MethodTasksResult = "tasks/result"
	// MethodTasksList lists core tasks.
	MethodTasksList = "tasks/list"
	// MethodTasksCancel gives up a task.
	MethodTasksCancel = "tasks/cancel"
)

// The notifications of all revisions.
const (
	// NotificationInitialized ends the handshake in older revisions.
	NotificationInitialized = "notifications/initialized"
	// NotificationCancelled gives up a request.
	NotificationCancelled = "notifications/cancelled"
	// NotificationProgress tells how far a request is.
	NotificationProgress = "notifications/progress"
	// NotificationMessage carries a log message.
	NotificationMessage = "notifications/message"
	// NotificationToolsListChanged tells that the list of tools changed.
	NotificationToolsListChanged = "notifications/tools/list_changed"
	// NotificationPromptsListChanged tells that the list of prompts changed.
	NotificationPromptsListChanged = "notifications/prompts/list_changed"
	// NotificationResourcesListChanged tells that the list of resources changed.
	NotificationResourcesListChanged = "notifications/resources/list_changed"
	// NotificationResourcesUpdated tells that a resource changed.
	NotificationResourcesUpdated = "notifications/resources/updated"
	// NotificationRootsListChanged tells that the roots of a client changed in
	// older revisions.
	NotificationRootsListChanged = "notifications/roots/list_changed"
	// NotificationElicitationComplete tells that a user is done with a web page,
	// in the revision with core tasks.
	NotificationElicitationComplete = "notifications/elicitation/complete"
	// NotificationTasksStatus tells how far a core task is.
	NotificationTasksStatus = "notifications/tasks/status"
	// NotificationSubscriptionsAcknowledged begins a stream of notifications in
	// the stateless revision.
	NotificationSubscriptionsAcknowledged = "notifications/subscriptions/acknowledged"
)

package revision

import "maps"

import "github.com/ferrymcp/ferry/mcp"

// sender says who may send a method.
type sender uint8

const (
	fromClient sender = 1 << iota
	fromServer
	fromBoth = fromClient | fromServer
)

type methodSet map[string]sender

// plus returns the union of the sets; later ones win.
func (m methodSet) plus(more ...methodSet) methodSet {
	sum := methodSet{}
	for _, set := range append([]methodSet{m}, more...) {
		maps.Copy(sum, set)
	}
	return sum
}

// featureMethods are the requests about tools, prompts, resources and
// completion that every revision has.
var featureMethods = methodSet{
	mcp.MethodToolsList:              fromClient,
	mcp.MethodToolsCall:              fromClient,
	mcp.MethodPromptsList:            fromClient,
	mcp.MethodPromptsGet:             fromClient,
	mcp.MethodResourcesList:          fromClient,
	mcp.MethodResourcesTemplatesList: fromClient,
	mcp.MethodResourcesRead:          fromClient,
	mcp.MethodCompletionComplete:     fromClient,
}

// changeNotifications tell a client that something it may have read changed.
var changeNotifications = methodSet{
	mcp.NotificationToolsListChanged:     fromServer,
	mcp.NotificationPromptsListChanged:   fromServer,
	mcp.NotificationResourcesListChanged: fromServer,
	mcp.NotificationResourcesUpdated:     fromServer,
	mcp.NotificationMessage:              fromServer,
}

// sessionMethods are those of the revisions with an initialize handshake.
var sessionMethods = methodSet{
	mcp.MethodInitialize:             fromClient,
	mcp.NotificationInitialized:      fromClient,
	mcp.MethodPing:                   fromBoth,
	mcp.MethodLoggingSetLevel:        fromClient,
	mcp.MethodResourcesSubscribe:     fromClient,
	mcp.MethodResourcesUnsubscribe:   fromClient,
	mcp.NotificationCancelled:        fromBoth,
	mcp.NotificationProgress:         fromBoth,
	mcp.NotificationRootsListChanged: fromClient,
	mcp.MethodRootsList:              fromServer,
	mcp.MethodSamplingCreateMessage:  fromServer,
}

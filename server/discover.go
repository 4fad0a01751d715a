package server

import (
	"context"

	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/mcp"
)

// discover answers a stateless client that asks what the server is.
func (s *Server) discover(context.Context, *Call) (any, error) {
	return &mcp.DiscoverResult{
		SupportedVersions: revision.Names(),
		Capabilities:      s.capabilities(),
		Instructions:      s.opts.Instructions,
	}, nil
}

// capabilities is what the server can do. Features are declared when there are
// any, or when the options say that some may come.
func (s *Server) capabilities() mcp.ServerCapabilities {
	caps := s.opts.Capabilities
	caps.Extensions = s.extensions()
	caps.Logging = &mcp.LoggingCapability{}
	if s.offers(mcp.MethodToolsList) {
		caps.Tools = &mcp.ToolsCapability{ListChanged: true}
	}
	if s.offers(mcp.MethodPromptsList) {
		caps.Prompts = &mcp.PromptsCapability{ListChanged: true}
	}
	if s.offers(mcp.MethodResourcesList) {
		caps.Resources = &mcp.ResourcesCapability{ListChanged: true, Subscribe: true}
	}
	if s.canComplete() {
		caps.Completions = &mcp.CompletionsCapability{}
	}
	return caps
}

// offers reports whether the capability that a method belongs to is declared.
func (s *Server) offers(method string) bool {
	switch caps := &s.opts.Capabilities; method {
	case mcp.MethodToolsList, mcp.MethodToolsCall:
		return s.tools.used() || caps.Tools != nil
	case mcp.MethodPromptsList, mcp.MethodPromptsGet:
		return s.prompts.used() || caps.Prompts != nil
	case mcp.MethodResourcesList, mcp.MethodResourcesTemplatesList, mcp.MethodResourcesRead,
		mcp.MethodResourcesSubscribe, mcp.MethodResourcesUnsubscribe:
		return s.resources.used() || s.templates.used() || caps.Resources != nil
	default:
		return true
	}
}

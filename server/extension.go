package server

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/ferrymcp/ferry/internal/revision"
)

// Extend declares an extension to clients, with its settings: a value that
// encodes as a JSON object; nil stands for an empty one. What the extension does
// comes through Handle and the features. Extensions do nothing unless they are
// declared here or in Options.Capabilities, and clients that connected before
// may not learn of it. Extend panics when the identifier is not one, such as
// "com.example/name", or the settings are no object. Declaring one again
// replaces its settings.
//
// See "Extension Negotiation" of basic/versioning in the specification.
func (s *Server) Extend(identifier string, settings any) {
	raw := json.RawMessage("{}")
	if settings != nil {
		raw = mustMarshal(settings)
	}
	if err := revision.CheckExtensions(map[string]json.RawMessage{identifier: raw}); err != nil {
		panic(fmt.Sprintf("server.Extend: %v", err))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	extended := make(map[string]json.RawMessage, len(s.extended)+1)
	maps.Copy(extended, s.extended)
	extended[identifier] = raw
	s.extended = extended
}

// extensions are those declared, in the options or later.
func (s *Server) extensions() map[string]json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.extended) == 0 {
		return s.opts.Capabilities.Extensions
	}
	all := maps.Clone(s.opts.Capabilities.Extensions)
	if all == nil {
		all = make(map[string]json.RawMessage, len(s.extended))
	}
	maps.Copy(all, s.extended)
	return all
}

// Sees reports whether the view of the caller shows a resource. Handlers of
// extensions ask it where they tell of resources in ways of their own.
func (c *Call) Sees(uri string) bool {
	return c.view == nil || shows(c.view.Resource, uri)
}

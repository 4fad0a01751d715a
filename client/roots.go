package client

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/ferrymcp/ferry/mcp"
)

// SetRoots replaces Options.Roots for this session and tells the server as
// RootsChanged does. It is an error if roots are not declared, or if one is not
// the URI of a local file or folder.
func (s *Session) SetRoots(ctx context.Context, roots []mcp.Root) error {
	if s.client.declared.Roots == nil {
		return errors.New("set roots: the client has not declared any; set Options.Roots")
	}
	if err := checkRoots(roots); err != nil {
		return err
	}
	s.mu.Lock()
	s.roots = slices.Clone(roots)
	s.mu.Unlock()
	return s.RootsChanged(ctx)
}

// RootsChanged tells the server that the roots have changed, so that it asks for
// them again; it is for those with an OnRoots handler. Where the revision has
// no such notification, or it was not declared, it does nothing: a server of a
// stateless revision asks each time.
func (s *Session) RootsChanged(ctx context.Context) error {
	l, err := s.current(mcp.NotificationRootsListChanged)
	if err != nil {
		return err
	}
	declared := l.speaks().revision().ClientCapabilities(s.client.declared).Roots
	if declared == nil || !declared.ListChanged {
		return nil
	}
	return s.Notify(ctx, mcp.NotificationRootsListChanged, nil)
}

// listRoots answers a server that asks for the roots.
func (s *Session) listRoots(ctx context.Context) (*mcp.ListRootsResult, error) {
	handler := s.client.opts.OnRoots
	if handler == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		return &mcp.ListRootsResult{Roots: s.roots}, nil
	}
	result, err := contained(ctx, s.client, func(ctx context.Context, _ struct{}) (*mcp.ListRootsResult, error) {
		roots, err := handler(ctx)
		return &mcp.ListRootsResult{Roots: roots}, err
	}, struct{}{})
	if err == nil {
		err = checkRoots(result.Roots)
	}
	return result, err
}

// checkRoots reports roots that must not be shown to a server: those that are no
// file URIs, and those whose path climbs up.
func checkRoots(roots []mcp.Root) error {
	for _, root := range roots {
		u, err := url.Parse(root.URI)
		switch {
		case err != nil:
			return fmt.Errorf("root %q: %w", root.URI, err)
		case u.Scheme != "file" || !strings.HasPrefix(u.Path, "/"):
			return fmt.Errorf("root %q: not a URI that begins with file:// and names a path", root.URI)
		case slices.Contains(strings.Split(u.Path, "/"), ".."):
			return fmt.Errorf("root %q: the path must not climb up", root.URI)
		}
	}
	return nil
}

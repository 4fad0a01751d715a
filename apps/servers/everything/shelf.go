package everything

import (
	"context"
	"crypto/rand"
	"net/url"
	"slices"
	"sync"

	"github.com/ferrymcp/ferry/apps/servers/internal/session"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// sessionURI is where resources are that a session has made.
const sessionURI = "demo://resource/session/"

// The bounds of what a session can have made.
const (
	maxShelved = 16
	maxBytes   = 32 << 20
)

// A shelf holds resources that were made, the newest last.
type shelf struct {
	mu    sync.Mutex
	items []shelved
	size  int
}

type shelved struct {
	resource mcp.Resource
	data     []byte
}

// put adds a resource, in the place of one with that address, and drops the oldest
// ones for which there is no room.
func (s *shelf) put(item shelved) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items = slices.DeleteFunc(s.items, func(old shelved) bool {
		same := old.resource.URI == item.resource.URI
		if same {
			s.size -= len(old.data)
		}
		return same
	})
	s.items = append(s.items, item)
	for s.size += len(item.data); len(s.items) > maxShelved || s.size > maxBytes && len(s.items) > 1; {
		s.size -= len(s.items[0].data)
		s.items = slices.Delete(s.items, 0, 1)
	}
}

func (s *shelf) get(uri string) (shelved, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, item := range s.items {
		if item.resource.URI == uri {
			return item, true
		}
	}
	return shelved{}, false
}

func (s *shelf) list() []mcp.Resource {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]mcp.Resource, len(s.items))
	for i, item := range s.items {
		list[i] = item.resource
	}
	return list
}

// shelves are those of all sessions, and one for callers without a session, whose
// resources have addresses that nobody can guess.
type shelves struct {
	sessions session.Store[shelf]
	others   shelf
}

func newShelves(srv *server.Server) *shelves {
	s := new(shelves)
	srv.AddResourceTemplate(mcp.ResourceTemplate{
		URITemplate: sessionURI + "{name}", Name: "Session resource", Icons: icons,
		Description: "What gzip-file-as-resource has made, for as long as the session lasts",
	}, s.read)
	srv.Use(s.listed)
	return s
}

// of returns the shelf of a caller.
func (s *shelves) of(c *server.Call) *shelf {
	if sess := c.Session(); sess != nil {
		return s.sessions.Of(sess)
	}
	return &s.others
}

func (s *shelves) read(_ context.Context, c *server.Call, uri string, _ map[string]string) (*mcp.ReadResourceResult, error) {
	item, ok := s.of(c).get(uri)
	if !ok {
		return nil, &mcp.ResourceNotFoundError{URI: uri}
	}
	return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.BlobResource(uri, item.resource.MIMEType, item.data)}}, nil
}

// keep puts a file on the shelf of a caller and returns the resource that it is now.
func (s *shelves) keep(ctx context.Context, c *server.Call, name, mimeType string, data []byte) mcp.Resource {
	uri := sessionURI + url.PathEscape(name)
	if c.Session() == nil {
		uri = sessionURI + rand.Text() + "." + url.PathEscape(name)
	}
	r := mcp.Resource{URI: uri, Name: name, MIMEType: mimeType}
	s.of(c).put(shelved{r, data})
	if c.Session() != nil {
		// That the client has gone shows elsewhere.
		_ = c.Notify(ctx, mcp.NotificationResourcesListChanged, nil)
	}
	return r
}

// listed adds the resources of a session to its list of resources.
func (s *shelves) listed(next server.Handler) server.Handler {
	return func(ctx context.Context, c *server.Call) (any, error) {
		r, err := next(ctx, c)
		if c.Method != mcp.MethodResourcesList || err != nil || c.Session() == nil {
			return r, err
		}
		all, ok := r.(*mcp.ListResourcesResult)
		if !ok || all.NextCursor != nil {
			return r, nil
		}
		if own := s.of(c).list(); len(own) > 0 {
			with := *all
			with.Resources = slices.Concat(all.Resources, own)
			return &with, nil
		}
		return r, nil
	}
}

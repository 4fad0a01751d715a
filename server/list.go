package server

import (
	"bytes"
	"encoding/base64"
	"strings"
	"sync"

	ijson "github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/mcp"
)

// Lists are made once for each snapshot, view and page, and rendered once for
// each revision. All callers share them.

// pageKey says which list: through whose eyes, and from where on.
type pageKey struct {
	view   *View
	cursor string
}

// maxPages bounds the lists kept with one snapshot; it is emptied when full.
const maxPages = 64

// A pageCache keeps the lists made of one snapshot.
type pageCache struct {
	mu       sync.Mutex
	pages    map[pageKey]any
	rendered map[renderKey]rendered
}

type renderKey struct {
	page any // the pointer to the list
	rev  *revision.Revision
}

// page returns the list for the key, made by build when it is not kept.
func (pc *pageCache) page(key pageKey, build func() any) any {
	pc.mu.Lock()
	defer pc.mu.Unlock()
	if page, ok := pc.pages[key]; ok {
		return page
	}
	page := build()
	if pc.pages == nil || len(pc.pages) >= maxPages {
		pc.pages = map[pageKey]any{}
		pc.rendered = map[renderKey]rendered{}
	}
	pc.pages[key] = page
	return page
}

// render returns the bytes of a list for peers of the revision. A list that
// is not one of the kept ones, because middleware made it, is encoded by the
// carrier like any other result.
func (r *registry[T]) render(rev *revision.Revision, list any) (any, error) {
	pc := &r.snapshot().pages
	pc.mu.Lock()
	defer pc.mu.Unlock()
	key := renderKey{list, rev}
	if bytes, ok := pc.rendered[key]; ok {
		return bytes, nil
	}
	value := rev.Encode(list)
	kept := false
	for _, page := range pc.pages {
		kept = kept || page == list
	}
	if !kept {
		return value, nil
	}
	var buf bytes.Buffer
	if err := ijson.Write(&buf, value); err != nil {
		return nil, err
	}
	pc.rendered[key] = rendered(bytes.Clone(buf.Bytes()))
	return pc.rendered[key], nil
}

// listed returns one page of a registry as the list type L, which fill makes
// of the visible features.
func listed[T, L any](c *Call, r *registry[T], visible func(T) bool, fill func(shown []T, next *string) *L) (*L, error) {
	var p mcp.PageParams
	if err := c.params(&p); err != nil {
		return nil, err
	}
	var cursor string
	if p.Cursor != nil {
		var ok bool
		if cursor, ok = decodeCursor(*p.Cursor); !ok {
			return nil, invalidParams("params of %s: the cursor is not one of this server", c.Method)
		}
	}
	snap := r.snapshot()
	page := snap.pages.page(pageKey{c.view, cursor}, func() any {
		entries, more := snap.after(cursor, c.srv.opts.PageSize, visible)
		shown := make([]T, len(entries))
		for i, e := range entries {
			shown[i] = e.shown
		}
		var next *string
		if more {
			next = encodeCursor(entries[len(entries)-1].key)
		}
		return fill(shown, next)
	})
	return page.(*L), nil
}

// A cursor is the key of the last feature shown: it stays right when features
// come and go. The prefix tells our cursors from other texts.
const cursorPrefix = "after:"

func encodeCursor(key string) *string {
	cursor := base64.RawURLEncoding.EncodeToString([]byte(cursorPrefix + key))
	return &cursor
}

func decodeCursor(cursor string) (key string, ok bool) {
	text, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil {
		return "", false
	}
	return strings.CutPrefix(string(text), cursorPrefix)
}

// head fills what all lists have in common for stateless callers; it is
// dropped for the others when a list is rendered.
func (s *Server) head(r *mcp.Result, c *mcp.Cache) {
	s.stamp(r)
	s.cacheable(c, false)
}

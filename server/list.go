package server

import (
	"bytes"
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

// maxPages bounds the lists kept at one time, and maxRendered the bytes of
// their rendered forms; all are dropped when there are more. Views that are not
// shared and cursors that somebody made up cannot use more memory than that.
const (
	maxPages    = 64
	maxRendered = 16 << 20
)

// A pageCache keeps the lists made of one snapshot at a time.
type pageCache struct {
	mu    sync.Mutex
	of    any // the snapshot
	pages map[pageKey]*page
	lists map[any]*page // by the pointer to the list
	bytes int           // of the rendered forms
}

// A page is a list with its rendered forms.
type page struct {
	list any

	mu    sync.Mutex // held while a form is made, so that it is made once
	forms map[*revision.Revision]rendered
}

// find returns the list for the key, if it is kept.
func (pc *pageCache) find(snapshot any, key pageKey) (list any, ok bool) {
	pc.mu.Lock()
	defer pc.mu.Unlock()
	if p, ok := pc.pages[key]; ok && pc.of == snapshot {
		return p.list, true
	}
	return nil, false
}

// keep keeps a list and returns it, or the one that was kept meanwhile. The
// lists of another snapshot are dropped.
func (pc *pageCache) keep(snapshot any, key pageKey, list any) any {
	pc.mu.Lock()
	defer pc.mu.Unlock()
	if p, ok := pc.pages[key]; ok && pc.of == snapshot {
		return p.list
	}
	if pc.of != snapshot || len(pc.pages) >= maxPages {
		pc.of = snapshot
		pc.clearLocked()
	}
	p := &page{list: list, forms: map[*revision.Revision]rendered{}}
	pc.pages[key], pc.lists[list] = p, p
	return list
}

func (pc *pageCache) clearLocked() {
	pc.pages, pc.lists, pc.bytes = map[pageKey]*page{}, map[any]*page{}, 0
}

// render returns the bytes of a list for peers of the revision. It reports
// false when the list is not a kept one.
func (pc *pageCache) render(rev *revision.Revision, list any) (form rendered, ok bool, err error) {
	pc.mu.Lock()
	p := pc.lists[list]
	pc.mu.Unlock()
	if p == nil {
		return nil, false, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if form, ok := p.forms[rev]; ok {
		return form, true, nil
	}
	var buf bytes.Buffer
	if err := ijson.Write(&buf, rev.Encode(list)); err != nil {
		return nil, true, err
	}
	form = bytes.Clone(buf.Bytes())
	p.forms[rev] = form
	pc.account(p, len(form))
	return form, true, nil
}

// account counts the bytes of a form that was made.
func (pc *pageCache) account(p *page, size int) {
	pc.mu.Lock()
	defer pc.mu.Unlock()
	if pc.lists[p.list] != p {
		return // dropped meanwhile
	}
	if pc.bytes += size; pc.bytes > maxRendered {
		pc.clearLocked()
	}
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
		if cursor, ok = c.srv.cursors.open(c.Method, *p.Cursor); !ok {
			return nil, invalidParams("params of %s: the cursor is not one of this server", c.Method)
		}
	}
	snap, key := r.snapshot(), pageKey{c.view, cursor}
	if list, ok := r.lists.find(snap, key); ok {
		return list.(*L), nil
	}
	// Made without a lock, because visible is the user's.
	entries, more := snap.after(cursor, c.srv.opts.PageSize, visible)
	shown := make([]T, len(entries))
	for i, e := range entries {
		shown[i] = e.shown
	}
	var next *string
	if more {
		next = c.srv.cursors.sign(c.Method, entries[len(entries)-1].key)
	}
	return r.lists.keep(snap, key, fill(shown, next)).(*L), nil
}

// head fills what all lists have in common for stateless callers; it is
// dropped for the others when a list is rendered.
func (s *Server) head(r *mcp.Result, c *mcp.Cache) {
	s.stamp(r)
	s.cacheable(c, false)
}

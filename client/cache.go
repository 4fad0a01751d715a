package client

import (
	"bytes"
	"container/list"
	"context"
	stdjson "encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// Cache says what a session keeps of the lists and resources that its server has
// called fresh for a while. Only servers of the stateless revisions do. Kept
// results are used by the typed calls, such as Session.ListTools; Session.Call
// always asks. A notification that something has changed ends its being fresh.
//
// https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
type Cache struct {
	// MaxBytes is about the memory that one session keeps results in; the ones
	// that were not used for longest go first. 0 means 8 MiB, a negative value
	// that nothing is kept.
	MaxBytes int
	// Partition names the authorization that a call is made under, for
	// transports that take it from the context: private results are used only
	// for calls of the same. nil means that all calls of a session are made
	// under one authorization.
	Partition func(ctx context.Context) string
	// StaleOnError uses results that are no longer fresh when the server is not
	// reached.
	StaleOnError bool
}

const defaultCacheBytes = 8 << 20

// entryBytes is about what an entry takes besides its result.
const entryBytes = 256

// A cache holds results as they came. Sessions do not share theirs.
type cache struct {
	opts  Cache
	limit int // 0 when nothing is kept

	mu      sync.Mutex
	entries map[cacheKey]*list.Element
	order   list.List // of *cached, the last used first
	size    int
	// epoch counts changes: an answer that was asked for before a change may
	// not show it.
	epoch int64
}

// A cacheKey is a request, as far as its result depends on it.
type cacheKey struct {
	method string
	what   string // the cursor or the URI
	// shared results are for all; those that are not only for a partition.
	shared    bool
	partition string
}

type cached struct {
	key   cacheKey
	raw   stdjson.RawMessage
	until time.Time // it is fresh before this
}

func newCache(opts Cache) *cache {
	c := &cache{opts: opts, limit: opts.MaxBytes, entries: map[cacheKey]*list.Element{}}
	switch {
	case c.limit == 0:
		c.limit = defaultCacheBytes
	case c.limit < 0:
		c.limit = 0
	}
	return c
}

// keyOf returns what the result of a request is kept under. It reports false for
// requests whose results are not kept: those of other methods, and those that
// say more than what they ask for, such as answers to the server's questions.
func keyOf(method string, params any) (cacheKey, bool) {
	key := cacheKey{method: method}
	switch method {
	case mcp.MethodServerDiscover, mcp.MethodToolsList, mcp.MethodPromptsList, mcp.MethodResourcesList, mcp.MethodResourcesTemplatesList:
		p, ok := params.(*mcp.PageParams)
		if params == nil || ok && p.Cursor == nil {
			return key, !ok || p.Meta == nil
		}
		if !ok || p.Meta != nil {
			return key, false
		}
		key.what = cursorMark + *p.Cursor
		return key, true
	case mcp.MethodResourcesRead:
		p, ok := params.(*mcp.ReadResourceParams)
		if !ok || p.Meta != nil || p.InputResponses != nil || p.RequestState != nil {
			return key, false
		}
		key.what = p.URI
		return key, true
	}
	return key, false
}

// cursorMark tells a page with a cursor, which may be empty, from the first.
const cursorMark = "after "

// now returns the epoch, for keep.
func (c *cache) now() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.epoch
}

// get returns a kept result, nil if there is none, and whether it is fresh.
func (c *cache) get(ctx context.Context, key cacheKey) (raw stdjson.RawMessage, fresh bool) {
	private := key
	private.partition = c.partition(ctx)
	shared := key
	shared.shared = true
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range [...]cacheKey{private, shared} {
		element := c.entries[k]
		if element == nil {
			continue
		}
		c.order.MoveToFront(element)
		e := element.Value.(*cached)
		if fresh = time.Now().Before(e.until); fresh {
			return e.raw, true
		}
		raw = e.raw
	}
	return raw, false
}

func (c *cache) partition(ctx context.Context) string {
	if c.opts.Partition == nil {
		return ""
	}
	return c.opts.Partition(ctx)
}

// keep keeps a result if its server says so, unless something has changed since
// the epoch in which it was asked for.
func (c *cache) keep(ctx context.Context, key cacheKey, raw stdjson.RawMessage, epoch int64) {
	size := len(raw) + len(key.what) + entryBytes
	if c.limit == 0 || size > c.limit/4 {
		return
	}
	lifetime, shared := hints(raw)
	if lifetime <= 0 {
		return
	}
	if key.shared = shared; !shared {
		key.partition = c.partition(ctx)
	}
	// Copied, so that the rest of the message can be forgotten.
	e := &cached{key: key, raw: bytes.Clone(raw), until: time.Now().Add(lifetime)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.epoch != epoch {
		return
	}
	c.removeLocked(c.entries[key])
	c.entries[key] = c.order.PushFront(e)
	for c.size += size; c.size > c.limit; {
		c.removeLocked(c.order.Back())
	}
}

// maxLifetime bounds how long a result is fresh, whatever its server says.
const maxLifetime = 30 * 24 * time.Hour

// hints reads how long and for whom a result is fresh. A time that is missing or
// makes no sense counts as none, a missing scope as private.
func hints(raw []byte) (lifetime time.Duration, shared bool) {
	for name, value := range json.Members(raw) {
		switch text, _ := json.Unquote(value); name {
		case "resultType":
			if text != mcp.ResultComplete {
				return 0, false
			}
		case "ttlMs":
			ms, err := strconv.ParseFloat(string(value), 64)
			if err == nil && ms > 0 {
				lifetime = time.Duration(min(ms, float64(maxLifetime/time.Millisecond))) * time.Millisecond
			}
		case "cacheScope":
			shared = text == mcp.CachePublic
		}
	}
	return lifetime, shared
}

func (c *cache) removeLocked(element *list.Element) {
	if element == nil {
		return
	}
	e := element.Value.(*cached)
	c.order.Remove(element)
	delete(c.entries, e.key)
	c.size -= len(e.raw) + len(e.key.what) + entryBytes
}

// drop drops the results of a method, all or that about one thing.
func (c *cache) drop(method, what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.epoch++
	for key, element := range c.entries {
		if key.method == method && (what == "" || key.what == what) {
			c.removeLocked(element)
		}
	}
}

// clear drops everything.
func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.epoch++
	c.order.Init()
	clear(c.entries)
	c.size = 0
}

// changed drops what a notification says has changed.
func (c *cache) changed(m jsonrpc.Message) {
	switch m.Method {
	case mcp.NotificationSubscriptionsAcknowledged:
		c.clear() // what has changed before was not told
	case mcp.NotificationToolsListChanged:
		c.drop(mcp.MethodToolsList, "")
	case mcp.NotificationPromptsListChanged:
		c.drop(mcp.MethodPromptsList, "")
	case mcp.NotificationResourcesListChanged:
		c.drop(mcp.MethodResourcesList, "")
		c.drop(mcp.MethodResourcesTemplatesList, "")
	case mcp.NotificationResourcesUpdated:
		uri, _ := json.Member(m.Params, "uri")
		if text, ok := json.Unquote(uri); ok && text != "" {
			c.drop(mcp.MethodResourcesRead, text)
		}
	}
}

// doubted are the lists that are no longer trusted when the server does not know
// something that is in them.
var doubted = map[string]string{
	mcp.MethodToolsCall:     mcp.MethodToolsList,
	mcp.MethodPromptsGet:    mcp.MethodPromptsList,
	mcp.MethodResourcesRead: mcp.MethodResourcesList,
}

// refused drops what an error of the server shows to be out of date: all pages
// of a list of which it does not know a cursor any more, and the list that has
// a thing it does not know.
func (c *cache) refused(method string, params any, err error) {
	e, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || e.Code != jsonrpc.CodeInvalidParams && e.Code != jsonrpc.CodeMethodNotFound &&
		e.Code != mcp.CodeResourceNotFound && e.Code != mcp.CodeHeaderMismatch {
		return
	}
	if p, ok := params.(*mcp.PageParams); ok && p.Cursor != nil {
		c.drop(method, "")
	}
	if list := doubted[method]; list != "" {
		c.drop(list, "")
	}
}

// ClearCache drops all results that the session has kept.
func (s *Session) ClearCache() { s.cache.clear() }

package web

import (
	"container/list"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// How much a cache keeps.
const (
	maxCached      = 128
	maxCachedBytes = 32 << 20
)

// validators tell one version of a page from another.
type validators struct{ etag, modified string }

// ask has a server answer with the page only if it is another version.
func (v validators) ask(h http.Header) {
	if v.etag != "" {
		h.Set("If-None-Match", v.etag)
	}
	if v.modified != "" {
		h.Set("If-Modified-Since", v.modified)
	}
}

// A cache keeps pages that can be asked about. They are never used without.
type cache struct {
	mu    sync.Mutex
	pages map[string]*list.Element
	used  list.List // of *cached, the latest first
	bytes int
}

type cached struct {
	key  string
	page *Page
}

func key(u *url.URL, agent string) string {
	bare := *u
	bare.Fragment, bare.RawFragment = "", ""
	return agent + "\n" + bare.String()
}

// get returns a page, or nil.
func (c *cache) get(u *url.URL, agent string) *Page {
	if u.User != nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.pages[key(u, agent)]
	if e == nil {
		return nil
	}
	c.used.MoveToFront(e)
	return e.Value.(*cached).page
}

// put keeps a page, unless it has no validators or is for one reader only.
func (c *cache) put(u *url.URL, agent string, h http.Header, page *Page) {
	page.validators = validators{etag: h.Get("ETag"), modified: h.Get("Last-Modified")}
	control := strings.ToLower(strings.Join(h.Values("Cache-Control"), ","))
	c.mu.Lock()
	defer c.mu.Unlock()
	k := key(u, agent)
	if e := c.pages[k]; e != nil {
		c.drop(e)
	}
	if u.User != nil || page.validators == (validators{}) || len(page.Body) > maxCachedBytes/4 ||
		strings.Contains(control, "no-store") || strings.Contains(control, "private") || h.Get("Vary") == "*" {
		return
	}
	if c.pages == nil {
		c.pages = map[string]*list.Element{}
	}
	c.pages[k] = c.used.PushFront(&cached{k, page})
	c.bytes += len(page.Body)
	for c.used.Len() > maxCached || c.bytes > maxCachedBytes {
		c.drop(c.used.Back())
	}
}

func (c *cache) drop(e *list.Element) {
	old := c.used.Remove(e).(*cached)
	delete(c.pages, old.key)
	c.bytes -= len(old.page.Body)
}

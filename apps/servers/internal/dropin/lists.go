package dropin

import (
	"iter"
	"maps"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
)

// Same compares two values, down to their members: what a test has asked both
// servers for itself.
func (c *Comparison) Same(path string, theirs, ours any) {
	c.t.Helper()
	c.same(path, theirs, ours)
}

// Lists compares the lists of prompts, resources and templates.
func (c *Comparison) Lists() {
	c.t.Helper()
	c.same("prompts", c.prompts(c.theirs), c.prompts(c.ours))
	c.same("resources", c.resources(c.theirs), c.resources(c.ours))
	c.same("templates", c.templates(c.theirs), c.templates(c.ours))
}

func (c *Comparison) prompts(sess *client.Session) map[string]any {
	return collect(c, sess.Prompts(c.t.Context()), func(p mcp.Prompt) string { return p.Name })
}

func (c *Comparison) resources(sess *client.Session) map[string]any {
	return collect(c, sess.Resources(c.t.Context()), func(r mcp.Resource) string { return r.URI })
}

func (c *Comparison) templates(sess *client.Session) map[string]any {
	return collect(c, sess.ResourceTemplates(c.t.Context()), func(r mcp.ResourceTemplate) string { return r.URITemplate })
}

// collect makes one value of a list, by keys without slashes, without pictures.
func collect[T any](c *Comparison, list iter.Seq2[T, error], key func(T) string) map[string]any {
	c.t.Helper()
	all := map[string]any{}
	for element, err := range list {
		if err != nil {
			c.t.Fatal(err)
		}
		m := c.generic(element)
		maps.DeleteFunc(m, func(name string, _ any) bool { return name == "icons" })
		// Arguments that are not required may say so or not.
		if arguments, ok := m["arguments"].([]any); ok {
			for _, a := range arguments {
				if a, ok := a.(map[string]any); ok && a["required"] == false {
					delete(a, "required")
				}
			}
		}
		all[escape(key(element))] = m
	}
	return all
}

// escape keeps a key from looking like a path.
func escape(key string) string {
	return strings.ReplaceAll(key, "/", "|")
}

// OriginalFor is Original for a client that can do what the options say.
func OriginalFor(t *testing.T, opts *client.Options, pkg string, args ...string) *client.Session {
	t.Helper()
	return Connect(t, original(t, pkg, nil, args), opts)
}

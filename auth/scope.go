package auth

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	ijson "github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/oauthwire"
	"github.com/ferrymcp/ferry/internal/uritemplate"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// setScopes checks the scopes of the options and prepares them.
func (r *Resource) setScopes() error {
	o := &r.opts
	r.perCall = o.Needs != nil || len(o.Tools)+len(o.Prompts)+len(o.Resources) > 0
	r.known = oauthwire.UnionScopes(o.Scopes, o.Advertise)
	for _, kind := range []map[string][]string{o.Tools, o.Prompts, o.Resources} {
		for _, scopes := range kind {
			r.known = oauthwire.UnionScopes(r.known, scopes)
		}
	}
	if err := r.setTemplates(); err != nil {
		return err
	}
	slices.Sort(r.known)
	for _, scope := range r.known {
		if !oauthwire.ValidScope(scope) {
			return fmt.Errorf("%q is not a scope", scope)
		}
		if scope == oauthwire.ScopeOffline {
			return errors.New(scope + " is between client and authorization server, and not a scope of a resource")
		}
	}
	r.implies = map[string][]string{}
	for broad := range o.Implies {
		r.implies[broad] = implied(o.Implies, broad, nil)
	}
	return nil
}

// setTemplates finds the templates in Options.Resources, in an order that stays.
func (r *Resource) setTemplates() error {
	for _, key := range slices.Sorted(maps.Keys(r.opts.Resources)) {
		if !strings.Contains(key, "{") {
			continue
		}
		t, err := uritemplate.Parse(key)
		if err != nil {
			return fmt.Errorf("Options.Resources: %w", err)
		}
		r.templates = append(r.templates, t)
	}
	return nil
}

// implied returns what a scope stands for, itself included, besides what there is
// already.
func implied(implies map[string][]string, scope string, already []string) []string {
	if slices.Contains(already, scope) {
		return already
	}
	already = append(already, scope)
	for _, narrow := range implies[scope] {
		already = implied(implies, narrow, already)
	}
	return already
}

// effective returns granted scopes and what they imply ("Scope Challenge Handling").
func (r *Resource) effective(granted []string) []string {
	if len(r.implies) == 0 {
		return granted
	}
	var all []string
	for _, scope := range granted {
		all = oauthwire.UnionScopes(all, []string{scope}, r.implies[scope])
	}
	return all
}

// covers reports whether all scopes that are needed are there.
func covers(scopes, needed []string) bool {
	for _, scope := range needed {
		if !slices.Contains(scopes, scope) {
			return false
		}
	}
	return true
}

// needs returns the scopes that a request needs besides those of all requests. Where
// what it is about is further down in its parameters, they are read as who serves the
// request reads them, so that nothing else in them can hide it. What is wrong with them
// is said there.
func (r *Resource) needs(method, name string, params []byte) []string {
	switch method {
	case mcp.MethodResourcesSubscribe:
		var p mcp.SubscribeParams
		read(params, &p)
		return r.needsOf(method, p.URI)
	case mcp.MethodSubscriptionsListen:
		var p mcp.ListenParams
		read(params, &p)
		needed := r.more(method, "", nil)
		for _, uri := range p.Notifications.ResourceSubscriptions {
			needed = oauthwire.UnionScopes(needed, r.needsOf(method, uri))
		}
		return needed
	case mcp.MethodCompletionComplete:
		var p mcp.CompleteParams
		read(params, &p)
		if p.Ref.Type == mcp.RefPrompt {
			return r.more(method, p.Ref.Name, r.opts.Prompts[p.Ref.Name])
		}
		return r.more(method, p.Ref.URI, r.ofResource(p.Ref.URI))
	}
	return r.needsOf(method, name)
}

// read reads parameters as far as they can be.
func read(params []byte, into any) {
	if len(params) > 0 {
		_ = ijson.Unmarshal(params, into)
	}
}

// needsOf returns the scopes for what a method is about, by name.
func (r *Resource) needsOf(method, name string) []string {
	var needed []string
	switch method {
	case mcp.MethodToolsCall:
		needed = r.opts.Tools[name]
	case mcp.MethodPromptsGet:
		needed = r.opts.Prompts[name]
	case mcp.MethodResourcesRead, mcp.MethodResourcesSubscribe, mcp.MethodSubscriptionsListen:
		needed = r.ofResource(name)
	}
	return r.more(method, name, needed)
}

// more adds what Options.Needs says.
func (r *Resource) more(method, name string, needed []string) []string {
	if r.opts.Needs == nil {
		return needed
	}
	return oauthwire.UnionScopes(needed, r.opts.Needs(method, name))
}

// ofResource returns the scopes of a URI: its own, or else those of all templates that
// it may be of, because only the server knows which of them serves it.
func (r *Resource) ofResource(uri string) []string {
	needed, ok := r.opts.Resources[uri]
	if ok {
		return needed
	}
	for _, t := range r.templates {
		if _, ok := t.Match(uri); ok {
			needed = oauthwire.UnionScopes(needed, r.opts.Resources[t.Raw()])
		}
	}
	return needed
}

// An about is what most parameters say that a request is about.
type about struct {
	Name string `json:"name"`
	URI  string `json:"uri"`
}

// maxPeek is how much of a request is read to tell what it needs.
const maxPeek = 64 << 10

// wanted returns all scopes that a request needs which will be refused, so that its
// sender hears of them at once. It uses up the body.
func (r *Resource) wanted(rq *http.Request) []string {
	needed := r.opts.Scopes
	if !r.perCall || rq.Method != http.MethodPost || rq.Body == nil {
		return needed
	}
	body, err := io.ReadAll(io.LimitReader(rq.Body, maxPeek))
	if err != nil {
		return needed
	}
	for _, m := range messages(body) {
		var p about
		read(m.Params, &p)
		name := p.Name
		if name == "" {
			name = p.URI
		}
		needed = oauthwire.UnionScopes(needed, r.needs(m.Method, name, m.Params))
	}
	return needed
}

// messages reads a message or a batch; what cannot be read is left out.
func messages(body []byte) []jsonrpc.Message {
	var limits jsonrpc.Limits
	if !jsonrpc.IsBatch(body) {
		m, err := limits.Decode(body)
		if err != nil {
			return nil
		}
		return []jsonrpc.Message{m}
	}
	items, err := limits.DecodeBatch(body)
	if err != nil {
		return nil
	}
	var out []jsonrpc.Message
	for _, item := range items {
		if item.Err == nil {
			out = append(out, item.Message)
		}
	}
	return out
}

package auth

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	ijson "github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/oauthwire"
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

// needs returns the scopes that a request needs besides those of all requests.
func (r *Resource) needs(method, name string, params []byte) []string {
	switch method {
	case mcp.MethodResourcesSubscribe, mcp.MethodSubscriptionsListen, mcp.MethodCompletionComplete:
		return r.needsWithin(method, params)
	}
	return r.needsOf(method, name, r.kind(method))
}

// kind returns the scopes of what a method is about, by name.
func (r *Resource) kind(method string) map[string][]string {
	switch method {
	case mcp.MethodToolsCall:
		return r.opts.Tools
	case mcp.MethodPromptsGet:
		return r.opts.Prompts
	case mcp.MethodResourcesRead, mcp.MethodResourcesSubscribe, mcp.MethodSubscriptionsListen:
		return r.opts.Resources
	}
	return nil
}

func (r *Resource) needsOf(method, name string, kind map[string][]string) []string {
	needed := kind[name]
	if r.opts.Needs == nil {
		return needed
	}
	return oauthwire.UnionScopes(needed, r.opts.Needs(method, name))
}

// needsWithin is for methods that are about something, or about several things,
// which is further down in their parameters.
func (r *Resource) needsWithin(method string, params []byte) []string {
	p := aboutOf(params)
	switch {
	case p.Ref.URI != "":
		return r.needsOf(method, p.Ref.URI, r.opts.Resources)
	case p.Ref.Name != "":
		return r.needsOf(method, p.Ref.Name, r.opts.Prompts)
	case len(p.Notifications.ResourceSubscriptions) == 0:
		return r.needsOf(method, p.URI, r.kind(method))
	}
	var needed []string
	for _, uri := range p.Notifications.ResourceSubscriptions {
		needed = oauthwire.UnionScopes(needed, r.needsOf(method, uri, r.opts.Resources))
	}
	return needed
}

// An about is the part of any parameters that says what a request is about.
type about struct {
	Name string `json:"name"`
	URI  string `json:"uri"`
	Ref  struct {
		Name string `json:"name"`
		URI  string `json:"uri"`
	} `json:"ref"`
	Notifications struct {
		ResourceSubscriptions []string `json:"resourceSubscriptions"`
	} `json:"notifications"`
}

// aboutOf reads parameters. What is wrong with them is said by whoever serves the
// request.
func aboutOf(params json.RawMessage) about {
	var p about
	if len(params) > 0 && ijson.Unmarshal(params, &p) != nil {
		return about{}
	}
	return p
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
		p := aboutOf(m.Params)
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

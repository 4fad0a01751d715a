package auth

import (
	"net/http"
	"slices"
	"time"

	"github.com/ferrymcp/ferry/internal/admission"
	"github.com/ferrymcp/ferry/internal/oauthwire"
	"github.com/ferrymcp/ferry/server"
)

// A visitor is an identity at a resource. All requests with one token share it.
type visitor struct {
	resource  *Resource
	identity  *Identity
	principal string
	scopes    []string // the granted ones and what they imply
	admitted  bool     // has the scopes that all requests need
	view      *server.View
	until     time.Time // when the token has to be verified again
}

func (r *Resource) newVisitor(id *Identity) *visitor {
	v := &visitor{resource: r, identity: id, principal: id.Principal(), scopes: r.effective(id.Scopes)}
	v.admitted = covers(v.scopes, r.opts.Scopes)
	if r.perCall {
		v.view = r.views.of(r, v.scopes)
	}
	return v
}

// Principal implements admission.Caller.
func (v *visitor) Principal() string { return v.principal }

// Expires implements admission.Caller.
func (v *visitor) Expires() time.Time {
	if v.resource.opts.KeepStreams || v.identity.Expires.IsZero() {
		return time.Time{}
	}
	return v.identity.Expires.Add(streamGrace)
}

// Lacks implements admission.Caller.
func (v *visitor) Lacks(method, name string, params []byte) []string {
	if !v.resource.perCall {
		return nil
	}
	needed := v.resource.needs(method, name, params)
	if covers(v.scopes, needed) {
		return nil
	}
	return oauthwire.UnionScopes(v.resource.opts.Scopes, needed)
}

// Refuse implements admission.Caller. The challenge names what the request needs,
// and what of that was granted for other requests: clients of revision 2025-11-25
// ask for what it names and nothing else, and would lose it.
func (v *visitor) Refuse(scopes []string) *admission.Refusal {
	const why = "the request needs scopes that the access token does not have"
	var kept []string
	for _, scope := range v.identity.Scopes {
		if _, known := slices.BinarySearch(v.resource.known, scope); known {
			kept = append(kept, scope)
		}
	}
	return &admission.Refusal{
		Status: http.StatusForbidden, Message: why,
		Challenges: v.resource.challenges(codeInsufficientScope, why, oauthwire.UnionScopes(scopes, kept), v.identity.KeyThumbprint != ""),
	}
}

// Permit reports whether a request may be made by the one who sent it, and
// otherwise refuses it with status 403, naming the scopes that it needs. It is for
// handlers behind [Resource.Handler] that are not those of this module. The method
// is that of the protocol, and name that of a tool or prompt, or the URI of a
// resource.
func (r *Resource) Permit(w http.ResponseWriter, rq *http.Request, method, name string) bool {
	v, ok := admission.From(rq.Context()).(*visitor)
	if !ok || v.resource != r {
		refuse(w, &admission.Refusal{Status: http.StatusUnauthorized, Challenges: r.challenge, Message: "an access token is needed"})
		return false
	}
	needed := r.needsOf(method, name)
	if covers(v.scopes, needed) {
		return true
	}
	refuse(w, v.Refuse(oauthwire.UnionScopes(r.opts.Scopes, needed)))
	return false
}

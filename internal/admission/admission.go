// Package admission carries who called from the middleware that found out, which
// is package auth, to the carriers of HTTP, which bind sessions to the caller and
// ask what it may call. Carriers and middleware do not know each other: between
// them there may be any number of handlers of others.
//
// It says nothing about how callers are authenticated.
package admission

import (
	"context"
	"time"
)

// A Caller is who sent a request. Its methods may be called concurrently.
type Caller interface {
	// Principal names the caller, and nobody else, for as long as the server runs.
	Principal() string
	// Expires is when the caller has to show again who it is: streams end then.
	// Zero is never.
	Expires() time.Time
	// Lacks returns the scopes that a request needs, if the caller does not have
	// all of them, and otherwise none. name is what the request is about, as far
	// as one name says it.
	Lacks(method, name string, params []byte) []string
	// Refuse returns the answer to a request that needs these scopes.
	Refuse(scopes []string) *Refusal
}

// A Refusal is the answer to a request that the caller may not make.
type Refusal struct {
	Status     int
	Challenges []string // values of WWW-Authenticate; not to be changed
	Message    string
}

// Challenge puts the challenges into the headers of the answer, under their
// canonical name as in net/http.
func (r *Refusal) Challenge(header map[string][]string) {
	if len(r.Challenges) > 0 {
		header["Www-Authenticate"] = r.Challenges
	}
}

type key struct{}

// With returns a context of requests of a caller.
func With(ctx context.Context, c Caller) context.Context { return context.WithValue(ctx, key{}, c) }

// From returns the caller of the request whose context it is; nil when nobody was
// authenticated.
func From(ctx context.Context) Caller {
	c, _ := ctx.Value(key{}).(Caller)
	return c
}

package auth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ferrymcp/ferry/internal/admission"
	ijson "github.com/ferrymcp/ferry/internal/json"
)

var (
	// ErrToken is in the errors of tokens that are not accepted: the caller gets
	// status 401. What a [Verifier] says besides goes into the log only.
	ErrToken = errors.New("invalid access token")
	// ErrExpired is in the errors of tokens that were accepted once. It is an
	// ErrToken too, and the caller is told.
	ErrExpired = fmt.Errorf("%w: it has expired", ErrToken)
)

// A Verifier tells who a token stands for.
type Verifier interface {
	// Issuer returns the identifier of the authorization server whose tokens are
	// verified. The metadata of the resource names it.
	Issuer() string
	// Verify returns who a token stands for, what it may be used for and until
	// when. It does not check the audience and the scopes, but says what they are.
	// An error that wraps ErrToken refuses the token; any other says that it
	// cannot be verified now (status 503). It must be safe for concurrent use.
	Verify(ctx context.Context, token string) (*Identity, error)
}

// An Identity is who called. It is shared by all requests with one token and must
// not be changed.
type Identity struct {
	// Issuer is the authorization server that has issued the token.
	Issuer string
	// Subject is who the token stands for, by a name that the issuer gives to
	// nobody else; empty for some tokens that clients have for themselves.
	Subject string
	// ClientID is the client that it was issued to; empty when the issuer does not
	// say.
	ClientID string
	// Scopes are the ones that were granted.
	Scopes []string
	// Audience is what the token was issued for.
	Audience []string
	// Expires is when the token expires. It may be zero if VerifyAgain is not.
	Expires time.Time
	// VerifyAgain is when the token has to be verified again; zero leaves it to
	// Options.CacheFor.
	VerifyAgain time.Time
	// KeyThumbprint is the key that the token is bound to (RFC 9449, section 6);
	// empty for bearer tokens.
	KeyThumbprint string
	// Claims is all that the issuer says, a JSON object; it may be nil.
	Claims []byte
}

// Of returns who called, from the context of a handler, a middleware or a view;
// nil when the request did not come through a [Resource]. Requests of a session
// over HTTP+SSE have the identity with which its stream was opened.
func Of(ctx context.Context) *Identity {
	if v, ok := admission.From(ctx).(*visitor); ok {
		return v.identity
	}
	return nil
}

// Principal names who called, and nobody else: the issuer and the subject. For
// tokens without a subject it is the issuer and the client. It is what sessions
// are bound to, and server.Request.Principal.
func (id *Identity) Principal() string {
	// Issuers have neither blanks nor tabs in them.
	if id.Subject == "" {
		return id.Issuer + "\t" + id.ClientID
	}
	return id.Issuer + " " + id.Subject
}

// Has reports whether all these scopes were granted. It does not know which scopes
// stand for others; Options.Implies is for what the [Resource] itself checks.
func (id *Identity) Has(scopes ...string) bool {
	for _, scope := range scopes {
		if !slices.Contains(id.Scopes, scope) {
			return false
		}
	}
	return true
}

// Claim decodes a claim into v. It reports false, and leaves v alone, when there is
// none of that name; the error is that of decoding.
func (id *Identity) Claim(name string, v any) (found bool, err error) {
	for member, value := range ijson.Members(id.Claims) {
		if member != name {
			continue
		}
		if err := ijson.Unmarshal(value, v); err != nil {
			return true, fmt.Errorf("read the claim %q: %w", name, err)
		}
		return true, nil
	}
	return false, nil
}

// check refuses what cannot be told from others, or never ends.
func (id *Identity) check() error {
	switch {
	case id.Issuer == "" || strings.ContainsAny(id.Issuer, " \t"):
		return fmt.Errorf("%w: it has no issuer", ErrToken)
	case id.Subject == "" && id.ClientID == "":
		return fmt.Errorf("%w: it stands for nobody", ErrToken)
	case id.Expires.IsZero() && id.VerifyAgain.IsZero():
		return fmt.Errorf("%w: it does not say when it expires", ErrToken)
	}
	return nil
}

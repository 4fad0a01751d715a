package auth

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	ijson "github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// algorithms are the ones that tokens may be signed with. There is none among them
// whose key is a secret: such a key could be mistaken for a public one.
var algorithms = []jose.SignatureAlgorithm{
	jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
	jose.PS256, jose.PS384, jose.PS512, jose.RS256, jose.RS384, jose.RS512,
}

const defaultSkew = 30 * time.Second

// JWTOptions configures a [JWT]. The zero value and nil give safe defaults.
type JWTOptions struct {
	// JWKS is the URL of the issuer's keys; by default what its metadata says. It
	// is https, or http on this machine.
	JWKS string
	// Keys are the issuer's public keys, a JSON Web Key Set, for issuers that are
	// not asked. JWKS is not used then.
	Keys []byte
	// Algorithms are the signature algorithms accepted; nil means all asymmetric
	// ones of RFC 7518 and EdDSA. Others cannot be named.
	Algorithms []string
	// Types are the values of the header typ that are accepted; nil means at+jwt
	// (RFC 9068), and JWT or none as many issuers write. Case does not matter,
	// and a leading "application/" does not either.
	Types []string
	// Skew is how much clocks may differ; 0 means 30 s.
	Skew time.Duration
	// Refresh is how old the keys may be before they are fetched again; 0 means 15
	// minutes. Keys that a token names and that are not known are fetched at once,
	// but not more often than every 5 s.
	Refresh time.Duration
	// KeepStale is how long keys are used while they cannot be fetched again; 0
	// means 24 hours.
	KeepStale time.Duration
	// Client fetches metadata and keys; nil means one of the package, with a
	// time-out of 5 s. The URLs are the operator's, so nothing keeps it out of the
	// own network.
	Client *http.Client
}

// A JWT verifies access tokens that are JSON Web Tokens signed by an issuer (RFC
// 9068). It fetches the issuer's keys when it needs them. There is nothing to
// close.
type JWT struct {
	issuer     string
	algorithms []jose.SignatureAlgorithm
	types      []string
	skew       time.Duration
	keys       keySet
}

// NewJWT returns a verifier for the tokens of an issuer, whose identifier is exactly
// what its tokens say in iss: a URL of https, or of http on this machine. Nil options
// mean the defaults. Nothing is fetched before a token has to be verified.
func NewJWT(issuer string, opts *JWTOptions) (*JWT, error) {
	var o JWTOptions
	if opts != nil {
		o = *opts
	}
	v := &JWT{issuer: issuer, algorithms: algorithms, types: []string{"at+jwt", "jwt", ""}, skew: o.Skew}
	if v.skew == 0 {
		v.skew = defaultSkew
	}
	var err error
	if o.Algorithms != nil {
		if v.algorithms, err = chosen(o.Algorithms); err != nil {
			return nil, err
		}
	}
	if o.Types != nil {
		v.types = nil
		for _, t := range o.Types {
			v.types = append(v.types, plainType(t))
		}
	}
	source, err := newIssuerSource(issuer, o.Client)
	if err != nil {
		return nil, err
	}
	if err := v.keys.init(source, &o); err != nil {
		return nil, fmt.Errorf("verify tokens of %s: %w", issuer, err)
	}
	return v, nil
}

// chosen returns the algorithms of these names.
func chosen(names []string) ([]jose.SignatureAlgorithm, error) {
	var out []jose.SignatureAlgorithm
	for _, name := range names {
		alg := jose.SignatureAlgorithm(name)
		if !slices.Contains(algorithms, alg) {
			return nil, fmt.Errorf("JWTOptions.Algorithms: %q is not a signature algorithm with public keys", name)
		}
		out = append(out, alg)
	}
	return out, nil
}

// Issuer implements [Verifier].
func (v *JWT) Issuer() string { return v.issuer }

// Verify implements [Verifier].
func (v *JWT) Verify(ctx context.Context, token string) (*Identity, error) {
	signed, err := jose.ParseSignedCompact(token, v.algorithms)
	if err != nil {
		return nil, fmt.Errorf("%w: it is no JWT of an accepted algorithm", ErrToken)
	}
	// Read before it is verified, because it says whether this issuer's keys are of
	// any use; nothing else is made of it before.
	payload := signed.UnsafePayloadWithoutVerification()
	var c claims
	if err := ijson.Unmarshal(payload, &c); err != nil {
		return nil, fmt.Errorf("%w: its claims cannot be read: %w", ErrToken, err)
	}
	if c.Issuer != v.issuer {
		return nil, fmt.Errorf("%w: it is not from %s", ErrToken, v.issuer)
	}
	header := &signed.Signatures[0].Protected
	if typ, _ := header.ExtraHeaders[jose.HeaderType].(string); !slices.Contains(v.types, plainType(typ)) {
		return nil, fmt.Errorf("%w: it is a %s", ErrToken, oauthwire.Printable(typ, 40))
	}
	if err := v.check(ctx, signed, header); err != nil {
		return nil, err
	}
	if c.Expiry == nil {
		return nil, fmt.Errorf("%w: it does not say when it expires", ErrToken)
	}
	return c.identity(payload, v.skew)
}

// check verifies the signature with the keys of the issuer, and nothing else: what
// the header says of keys only chooses among them.
func (v *JWT) check(ctx context.Context, signed *jose.JSONWebSignature, header *jose.Header) error {
	keys, err := v.keys.find(ctx, header.KeyID, header.Algorithm)
	if err != nil {
		return err
	}
	for i := range min(len(keys), maxTries) {
		if _, err := signed.Verify(&keys[i]); err == nil {
			return nil
		}
	}
	if len(keys) == 0 {
		return fmt.Errorf("%w: the issuer has no key for it", ErrToken)
	}
	return fmt.Errorf("%w: its signature does not hold", ErrToken)
}

// plainType returns a media type in the short form that JWTs have (RFC 7515, section
// 4.1.9).
func plainType(typ string) string {
	return strings.TrimPrefix(strings.ToLower(typ), "application/")
}

package authserver

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// maxForm is the size of the largest form that is read, in bytes.
const maxForm = 64 << 10

// readForm reads the form of a request to an endpoint for clients. Parameters come
// in the body only, once each, but for resource (OAuth 2.1, section 3.2.2).
func readForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return nil, refuse(oauthwire.ErrorInvalidRequest, "the form cannot be read, or is too long")
	}
	if r.URL.RawQuery != "" {
		return nil, refuse(oauthwire.ErrorInvalidRequest, "parameters belong in the body, where no log has them")
	}
	return r.PostForm, checkOnce(r.PostForm)
}

// checkOnce refuses parameters that are there twice (OAuth 2.1, section 3.1), of which
// two readers might take different ones. There may be several resources (RFC 8707).
func checkOnce(form url.Values) error {
	for name, values := range form {
		if name == "resource" {
			continue
		}
		if len(values) > 1 {
			return refuse(oauthwire.ErrorInvalidRequest, "the parameter %q is there twice", oauthwire.Printable(name, 50))
		}
	}
	return nil
}

// credentials are how a client says who it is.
type credentials struct {
	method     string
	id, secret string
	assertion  string
}

// readCredentials finds the one way in which a request authenticates (OAuth 2.1,
// section 2.4).
func readCredentials(r *http.Request, form url.Values) (*credentials, error) {
	creds := &credentials{method: oauthwire.NoClientAuth, id: form.Get("client_id")}
	ways := 0
	if headers := r.Header.Values("Authorization"); len(headers) > 0 {
		id, secret, ok := r.BasicAuth()
		id, err1 := url.QueryUnescape(id)
		secret, err2 := url.QueryUnescape(secret)
		switch {
		case len(headers) > 1 || !ok || err1 != nil || err2 != nil:
			return nil, refuse(oauthwire.ErrorInvalidClient, "the Authorization header is not one of Basic authentication with an id and a secret encoded as in forms")
		case creds.id != "" && creds.id != id:
			return nil, refuse(oauthwire.ErrorInvalidClient, "the client_id is not the one in the Authorization header")
		}
		ways++
		creds.method, creds.id, creds.secret = oauthwire.ClientSecretBasic, id, secret
	}
	if secret := form.Get("client_secret"); secret != "" {
		ways++
		creds.method, creds.secret = oauthwire.ClientSecretPost, secret
	}
	if creds.assertion = form.Get("client_assertion"); creds.assertion != "" {
		ways++
		creds.method = oauthwire.PrivateKeyJWT
	}
	switch {
	case ways > 1:
		return nil, refuse(oauthwire.ErrorInvalidRequest, "the client authenticates in more than one way")
	case creds.id == "" && creds.assertion == "":
		return nil, refuse(oauthwire.ErrorInvalidClient, "there is no client_id")
	}
	return creds, nil
}

// authenticate finds out which client has sent a request to an endpoint, and that it
// is that client, in the one way the client has.
func (s *Server) authenticate(r *http.Request, form url.Values) (*client, error) {
	creds, err := readCredentials(r, form)
	if err != nil {
		return nil, err
	}
	if creds.method == oauthwire.PrivateKeyJWT {
		return s.authenticateAssertion(r.Context(), form, creds)
	}
	c, err := s.client(r.Context(), creds.id)
	switch {
	case err != nil:
		return nil, err
	case creds.method == c.method, c.origin == configured && c.secret != "" && creds.secret != "":
	default:
		return nil, refuse(oauthwire.ErrorInvalidClient, "the client has to authenticate with %s", c.method)
	}
	if !c.public() && (c.secret == "" || !sameSecret(creds.secret, c.secret)) {
		return nil, refuse(oauthwire.ErrorInvalidClient, "the client secret is wrong")
	}
	return c, nil
}

// sameSecret compares without telling by its time how much is right.
func sameSecret(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// The algorithms that assertions of others may be signed with: asymmetric ones.
var (
	assertionAlgorithms = []jose.SignatureAlgorithm{
		jose.ES256, jose.ES384, jose.EdDSA, jose.PS256, jose.PS384, jose.RS256, jose.RS384, jose.RS512,
	}
	assertionAlgorithmNames = func() []string {
		var names []string
		for _, a := range assertionAlgorithms {
			names = append(names, string(a))
		}
		return names
	}()
)

// maxAssertionLife is how far in the future an assertion may expire, because that is
// how long its id has to be remembered.
const maxAssertionLife = time.Hour

// clockSkew is how much the clocks of others may be off.
const clockSkew = 30 * time.Second

// assertionClaims are what assertions say about themselves (RFC 7523, section 3).
type assertionClaims struct {
	Issuer    string            `json:"iss"`
	Subject   string            `json:"sub"`
	Audience  oauthwire.Strings `json:"aud"`
	Expires   float64           `json:"exp"`
	NotBefore float64           `json:"nbf"`
	IssuedAt  float64           `json:"iat"`
	ID        string            `json:"jti"`
}

// times reports whether an assertion is good now.
func (c *assertionClaims) times() bool {
	now, skew := float64(time.Now().Unix()), clockSkew.Seconds()
	return c.Expires > now-skew && c.Expires <= now+maxAssertionLife.Seconds()+skew && c.NotBefore <= now+skew && c.IssuedAt <= now+skew
}

// authenticateAssertion authenticates with private_key_jwt (RFC 7523, sections 2.2
// and 3).
func (s *Server) authenticateAssertion(ctx context.Context, form url.Values, creds *credentials) (*client, error) {
	invalid := func(why string) error { return refuse(oauthwire.ErrorInvalidClient, "client assertion: %s", why) }
	if form.Get("client_assertion_type") != oauthwire.AssertionJWTBearer {
		return nil, invalid("its type is not that of a JWT")
	}
	var claims assertionClaims
	signed, err := parseAssertion(creds.assertion, &claims)
	if err != nil {
		return nil, invalid("it is no JWT signed with an algorithm in the metadata")
	}
	if claims.Issuer == "" || claims.Issuer != claims.Subject || creds.id != "" && creds.id != claims.Subject {
		return nil, invalid("iss, sub and client_id are not the same")
	}
	c, err := s.client(ctx, claims.Subject)
	switch {
	case err != nil:
		return nil, err
	case c.method != oauthwire.PrivateKeyJWT || c.keys == nil:
		return nil, invalid("this client authenticates with " + c.method)
	case !verifiedBy(signed, c.keys):
		return nil, invalid("its signature does not hold")
	}
	// That some clients name the token endpoint instead of the issuer does no harm,
	// because no other server takes that for itself.
	if err := s.accept(ctx, &claims, s.opts.Issuer, s.base, s.base+"/token"); err != nil {
		return nil, invalid(err.Error())
	}
	return c, nil
}

// accept checks what an assertion with a good signature says, and that it is used
// for the first time. It has one audience, which is one of those given.
func (s *Server) accept(ctx context.Context, claims *assertionClaims, audiences ...string) error {
	switch {
	case len(claims.Audience) != 1 || !slices.Contains(audiences, claims.Audience[0]):
		return errors.New("its audience is not the issuer")
	case !claims.times():
		return errors.New("it has expired, is not yet good, or is good for too long")
	case claims.ID == "":
		return errors.New("it has no jti")
	}
	first, err := s.vault.once(ctx, "assertion", claims.Issuer+" "+claims.ID, unix(claims.Expires).Add(clockSkew))
	if err != nil {
		s.log.ErrorContext(ctx, "authorization server", "error", err)
		return errors.New("it cannot be remembered at this time")
	}
	if !first {
		return errors.New("it was used before")
	}
	return nil
}

func unix(seconds float64) time.Time { return time.Unix(int64(seconds)+1, 0) }

// parseAssertion reads the claims of an assertion whose signature nobody has checked.
func parseAssertion(text string, claims any) (*jose.JSONWebSignature, error) {
	if len(text) > maxToken {
		return nil, errToken
	}
	signed, err := jose.ParseSignedCompact(text, assertionAlgorithms)
	if err != nil || len(signed.Signatures) != 1 {
		return nil, errToken
	}
	return signed, json.Unmarshal(signed.UnsafePayloadWithoutVerification(), claims)
}

// verifiedBy reports whether one of the keys has signed it: the one that it names,
// or any of its kind if it names none.
func verifiedBy(signed *jose.JSONWebSignature, keys *jose.JSONWebKeySet) bool {
	header := signed.Signatures[0].Protected
	return slices.ContainsFunc(keys.Keys, func(key jose.JSONWebKey) bool {
		if header.KeyID != "" && key.KeyID != "" && header.KeyID != key.KeyID ||
			key.Algorithm != "" && key.Algorithm != header.Algorithm || key.Use != "" && !strings.EqualFold(key.Use, "sig") {
			return false
		}
		_, err := signed.Verify(key)
		return err == nil
	})
}

package authserver

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/ferrymcp/ferry/internal/json"
)

// signingAlgorithm is the one that tokens are signed with.
const signingAlgorithm = jose.ES256

// A ring is the signing keys: the one in use, the next, which resource servers can
// know before it is used, and the last, as long as its tokens live.
type ring struct {
	Current jose.JSONWebKey   `json:"current"`
	Next    jose.JSONWebKey   `json:"next"`
	Last    []jose.JSONWebKey `json:"last,omitempty"`
	Turned  time.Time         `json:"turned"` // when Current came into use
}

const (
	ringKind = "keys"
	ringID   = "signing"
	maxLast  = 4 // keys that are kept if they are changed by hand many times
)

// keys returns the signing keys, after making or changing them if it is time.
func (s *Server) keys(ctx context.Context) (*ring, error) {
	var keys ring
	found, err := s.vault.load(ctx, ringKind, ringID, &keys)
	if err != nil {
		return nil, err
	}
	if found && !s.due(&keys) {
		return &keys, nil
	}
	return s.turn(ctx, false)
}

// RotateKeys makes the next signing key the current one, which happens by itself
// every KeyLife. Tokens that are signed already stay good. It is for a key that may
// be known to others.
func (s *Server) RotateKeys(ctx context.Context) error {
	_, err := s.turn(ctx, true)
	return err
}

// due reports whether the keys need a change: the current one is old enough, or the
// last ones have no tokens any more.
func (s *Server) due(keys *ring) bool {
	age := time.Since(keys.Turned)
	return age >= s.opts.KeyLife || len(keys.Last) > 0 && age >= s.opts.TokenLife+time.Minute
}

func (s *Server) turn(ctx context.Context, now bool) (keys *ring, err error) {
	err = update(ctx, s.vault, ringKind, ringID, func(old *ring) (*ring, time.Time, error) {
		switch {
		case old == nil:
			if keys, err = newRing(); err != nil {
				return nil, time.Time{}, err
			}
		case now || time.Since(old.Turned) >= s.opts.KeyLife:
			next, err := newKey()
			if err != nil {
				return nil, time.Time{}, err
			}
			last := append([]jose.JSONWebKey{old.Current}, old.Last...)
			keys = &ring{Current: old.Next, Next: next, Last: last[:min(len(last), maxLast)], Turned: time.Now()}
		case s.due(old):
			keys = &ring{Current: old.Current, Next: old.Next, Turned: old.Turned}
		default: // somebody else was faster
			keys = old
		}
		return keys, time.Time{}, nil
	})
	if err != nil {
		return nil, fmt.Errorf("change the signing keys: %w", err)
	}
	return keys, nil
}

func newRing() (*ring, error) {
	current, err := newKey()
	if err != nil {
		return nil, err
	}
	next, err := newKey()
	return &ring{Current: current, Next: next, Turned: time.Now()}, err
}

func newKey() (jose.JSONWebKey, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return jose.JSONWebKey{}, err
	}
	key := jose.JSONWebKey{Key: private, Algorithm: string(signingAlgorithm), Use: "sig"}
	sum, err := key.Thumbprint(crypto.SHA256)
	key.KeyID = base64.RawURLEncoding.EncodeToString(sum)
	return key, err
}

// public returns the key set that others verify with.
func (keys *ring) public() jose.JSONWebKeySet {
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{keys.Current.Public(), keys.Next.Public()}}
	for _, key := range keys.Last {
		set.Keys = append(set.Keys, key.Public())
	}
	return set
}

// serveKeys answers with the key set (RFC 7517, section 5).
func (s *Server) serveKeys(w http.ResponseWriter, r *http.Request) {
	keys, err := s.keys(r.Context())
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "public, max-age=300")
	s.writeJSON(w, r, http.StatusOK, keys.public())
}

// sign returns claims as a JWT of a type.
func (s *Server) sign(ctx context.Context, typ jose.ContentType, claims any) (string, error) {
	keys, err := s.keys(ctx)
	if err != nil {
		return "", err
	}
	options := (&jose.SignerOptions{}).WithType(typ)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: signingAlgorithm, Key: keys.Current}, options)
	if err != nil {
		return "", fmt.Errorf("sign a token: %w", err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("sign a token: %w", err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", fmt.Errorf("sign a token: %w", err)
	}
	return signed.CompactSerialize()
}

// errToken is the error of a token that this server did not sign.
var errToken = errors.New("the token is not one of this server")

// maxToken is the length of the longest JWT that is looked at.
const maxToken = 16 << 10

// verify reads the claims of a JWT of a type that this server has signed. Whether it
// has expired is for the caller to say.
func (s *Server) verify(ctx context.Context, typ jose.ContentType, token string, claims any) error {
	if len(token) > maxToken {
		return errToken
	}
	signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{signingAlgorithm})
	if err != nil || len(signed.Signatures) != 1 {
		return errToken
	}
	header := signed.Signatures[0].Protected
	if got, _ := header.ExtraHeaders[jose.HeaderType].(string); got != string(typ) {
		return errToken
	}
	keys, err := s.keys(ctx)
	if err != nil {
		return err
	}
	set := keys.public()
	for _, key := range set.Key(header.KeyID) {
		if payload, err := signed.Verify(key); err == nil {
			return json.Unmarshal(payload, claims)
		}
	}
	return errToken
}

package dpop

import (
	"crypto/rsa"
	"crypto/subtle"
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"

	ijson "github.com/ferrymcp/ferry/internal/json"
)

var (
	// ErrProof is in the errors of a proof that does not hold: invalid_dpop_proof.
	ErrProof = errors.New("invalid DPoP proof")
	// ErrNonce is the error of a proof that is right but lacks the nonce that the
	// server wants: use_dpop_nonce. The client may try again with it.
	ErrNonce = errors.New("the DPoP proof needs a nonce of this server")
)

// Window is how far the time of a proof may be from ours unless Rules say so.
const Window = time.Minute

const (
	maxProof   = 8 << 10
	maxID      = 512
	minRSABits = 2048
	maxRSABits = 4096 // more would cost us more than it costs the sender
)

var algorithms = []jose.SignatureAlgorithm{
	jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
	jose.PS256, jose.PS384, jose.PS512, jose.RS256, jose.RS384, jose.RS512,
}

// Algorithms returns the signature algorithms that Check accepts, for metadata
// (dpop_signing_alg_values_supported) and challenges (algs).
func Algorithms() []string {
	names := make([]string, len(algorithms))
	for i, a := range algorithms {
		names[i] = string(a)
	}
	return names
}

// Rules say what a proof must fulfil besides being for the request. Nil means
// none of them.
type Rules struct {
	// Window is how far the time of a proof may be from ours, in both directions;
	// 0 means [Window].
	Window time.Duration
	// Nonce, when set, tells whether a nonce is one of ours.
	Nonce func(string) bool
	// Replays, when set, remembers proofs, so that none is accepted twice.
	Replays *Replays
	// Thumbprint, when not empty, is the key that the token is bound to.
	Thumbprint string
}

// A Proof is one that holds.
type Proof struct {
	ID         string // jti
	Thumbprint string // of the key that has signed it
	IssuedAt   time.Time
}

// Check checks a proof, the value of the one DPoP header of a request, as
// section 4.3 says. rq.Nonce is not used. Errors wrap [ErrProof], or are
// [ErrNonce], or [ErrReplays] when nothing more can be remembered; their text is
// fit for the sender.
func Check(proof string, rq Request, rules *Rules) (*Proof, error) {
	if rules == nil {
		rules = &Rules{}
	}
	if len(proof) > maxProof {
		return nil, invalid("it is too long")
	}
	payload, thumbprint, err := open(proof)
	if err != nil {
		return nil, err
	}
	var c claims
	if ijson.Unmarshal(payload, &c) != nil {
		return nil, invalid("its claims cannot be read")
	}
	if err := c.check(rq, rules); err != nil {
		return nil, err
	}
	if rules.Thumbprint != "" && !equal(thumbprint, rules.Thumbprint) {
		return nil, invalid("its key is not the one that the token is bound to")
	}
	if rules.Nonce != nil && !rules.Nonce(c.Nonce) {
		return nil, ErrNonce
	}
	p := &Proof{c.ID, thumbprint, time.Unix(int64(c.IssuedAt), 0)}
	if rules.Replays != nil {
		if err := rules.Replays.add(p, rules.window()); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// open verifies a proof with the key it carries and returns its claims and the
// key's thumbprint.
func open(proof string) (payload []byte, thumbprint string, err error) {
	signed, err := jose.ParseSignedCompact(proof, algorithms)
	if err != nil {
		return nil, "", invalid("it is no signed token of a supported algorithm")
	}
	header := signed.Signatures[0].Protected
	if typ, _ := header.ExtraHeaders[jose.HeaderType].(string); typ != proofType {
		return nil, "", invalid("its typ is not " + proofType)
	}
	key := header.JSONWebKey
	if key == nil || !key.Valid() || !key.IsPublic() {
		return nil, "", invalid("it carries no public key")
	}
	if public, ok := key.Key.(*rsa.PublicKey); ok && (public.N.BitLen() < minRSABits || public.N.BitLen() > maxRSABits) {
		return nil, "", invalid("its key has a size that is not accepted")
	}
	if payload, err = signed.Verify(key); err != nil {
		return nil, "", invalid("its signature does not hold")
	}
	if thumbprint, err = Thumbprint(key); err != nil {
		return nil, "", invalid("its key cannot be used")
	}
	return payload, thumbprint, nil
}

func (c *claims) check(rq Request, rules *Rules) error {
	if c.ID == "" || len(c.ID) > maxID {
		return invalid("its jti is missing or too long")
	}
	if c.Method != rq.Method {
		return invalid("its htm is for another method")
	}
	want, err := canonical(rq.URL)
	if err != nil {
		return fmt.Errorf("check DPoP proof: %w", err)
	}
	if got, err := canonical(c.URL); err != nil || got != want {
		return invalid("its htu is for another URL")
	}
	now, window := float64(time.Now().Unix()), rules.window().Seconds()
	if c.IssuedAt < now-window || c.IssuedAt > now+window {
		return invalid("its iat is not now")
	}
	if rq.Token != "" && !equal(c.TokenHash, hash(rq.Token)) {
		return invalid("its ath is for another token")
	}
	return nil
}

func (rules *Rules) window() time.Duration {
	if rules.Window == 0 {
		return Window
	}
	return rules.Window
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

func invalid(why string) error { return fmt.Errorf("%w: %s", ErrProof, why) }

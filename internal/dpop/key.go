// Package dpop makes and checks the proofs of RFC 9449 (DPoP), with which a
// client shows that it holds the key its access token is bound to. Clients,
// resource servers and authorization servers share it. It knows neither HTTP nor
// tokens: the caller says what a proof is for, and what its token is bound to.
package dpop

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"

	ijson "github.com/ferrymcp/ferry/internal/json"
)

// Algorithm is the one that keys made here sign with.
const Algorithm = "ES256"

const proofType = "dpop+jwt"

// A Request is what a proof is for.
type Request struct {
	// Method is the method of the HTTP request.
	Method string
	// URL is where it goes; query and fragment do not count (section 4.2).
	URL string
	// Token is the access token that the request carries; empty for requests to
	// a token endpoint.
	Token string
	// Nonce is the latest one that the server has asked for; empty for none.
	Nonce string
}

// A Key signs proofs. It may be used concurrently.
type Key struct {
	private    *ecdsa.PrivateKey
	signer     jose.Signer
	thumbprint string
}

// NewKey returns a new P-256 key.
func NewKey() (*Key, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	return keyOf(private)
}

// ParseKey returns the key that Bytes has written.
func ParseKey(der []byte) (*Key, error) {
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, fmt.Errorf("read DPoP key: %w", err)
	}
	private, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || private.Curve != elliptic.P256() {
		return nil, errors.New("read DPoP key: it is not a P-256 key")
	}
	return keyOf(private)
}

func keyOf(private *ecdsa.PrivateKey) (*Key, error) {
	options := (&jose.SignerOptions{EmbedJWK: true}).WithType(proofType)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: Algorithm, Key: private}, options)
	if err != nil {
		return nil, err
	}
	thumbprint, err := Thumbprint(&jose.JSONWebKey{Key: private.Public()})
	if err != nil {
		return nil, err
	}
	return &Key{private, signer, thumbprint}, nil
}

// Bytes returns the private key in PKCS #8 form, for a store of secrets.
func (k *Key) Bytes() ([]byte, error) { return x509.MarshalPKCS8PrivateKey(k.private) }

// Thumbprint returns what tokens bound to this key name it by: cnf.jkt, dpop_jkt.
func (k *Key) Thumbprint() string { return k.thumbprint }

// Thumbprint returns the SHA-256 thumbprint of a public key (RFC 7638) in base64url.
func Thumbprint(key *jose.JSONWebKey) (string, error) {
	sum, err := key.Thumbprint(crypto.SHA256)
	if err != nil {
		return "", fmt.Errorf("take the thumbprint of a key: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(sum), nil
}

// claims are those of a proof (section 4.2).
type claims struct {
	ID        string  `json:"jti"`
	Method    string  `json:"htm"`
	URL       string  `json:"htu"`
	IssuedAt  float64 `json:"iat"`
	TokenHash string  `json:"ath,omitempty"`
	Nonce     string  `json:"nonce,omitempty"`
}

// Proof returns a proof for one request: the value of its DPoP header. Each
// request, and each repetition of it, needs one of its own.
func (k *Key) Proof(rq Request) (string, error) {
	target, err := canonical(rq.URL)
	if err != nil {
		return "", fmt.Errorf("make DPoP proof: %w", err)
	}
	payload, err := ijson.Marshal(claims{
		ID: rand.Text(), Method: rq.Method, URL: target, IssuedAt: float64(time.Now().Unix()),
		TokenHash: hash(rq.Token), Nonce: rq.Nonce,
	})
	if err != nil {
		return "", err
	}
	signed, err := k.signer.Sign(payload)
	if err != nil {
		return "", fmt.Errorf("make DPoP proof: %w", err)
	}
	return signed.CompactSerialize()
}

// hash returns the ath claim for a token.
func hash(token string) string {
	if token == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

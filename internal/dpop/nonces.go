package dpop

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"
)

// Nonces makes nonces that clients must put into their proofs (sections 8 and 9),
// and knows them again without remembering any.
type Nonces struct {
	key   []byte
	every time.Duration
}

// NewNonces returns nonces that change as often as said and are accepted for
// twice as long. Instances behind one address need the same secret; nil is a
// random one.
func NewNonces(secret []byte, every time.Duration) *Nonces {
	if secret == nil {
		secret = make([]byte, sha256.Size)
		_, _ = rand.Read(secret) // never fails
	}
	return &Nonces{secret, every}
}

// Current returns the nonce to ask for.
func (n *Nonces) Current() string { return n.at(n.turn()) }

// Valid reports whether a nonce is the current one or the one before.
func (n *Nonces) Valid(nonce string) bool {
	turn := n.turn()
	return equal(nonce, n.at(turn)) || equal(nonce, n.at(turn-1))
}

func (n *Nonces) turn() int64 { return time.Now().UnixNano() / int64(n.every) }

func (n *Nonces) at(turn int64) string {
	mac := hmac.New(sha256.New, n.key)
	mac.Write(binary.BigEndian.AppendUint64([]byte("ferry dpop nonce"), uint64(turn)))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

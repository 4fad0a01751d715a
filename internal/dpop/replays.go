package dpop

import (
	"crypto/sha256"
	"errors"
	"sync"
	"time"
)

// ErrReplays is the error of a proof that may be right, at a time when so many
// are remembered that a replay could no longer be told. It is the server's fault.
var ErrReplays = errors.New("too many DPoP proofs at this time")

const defaultReplays = 1 << 20

// Replays remembers the proofs that were accepted, as long as they could be
// accepted again. The zero value is ready. It may be used concurrently, and
// belongs to one process: several instances behind one address accept a proof
// once each, unless they ask for nonces.
type Replays struct {
	// Limit is the most proofs that are remembered; 0 means about a million, which
	// take some 50 MB.
	Limit int

	mu sync.Mutex
	// Two generations: what is older than the older one has expired.
	young, old map[[16]byte]struct{}
	turned     time.Time // when young was begun
}

// add remembers a proof. A proof can be accepted while its time is within window
// of ours, on either side.
func (r *Replays) add(p *Proof, window time.Duration) error {
	sum := sha256.Sum256([]byte(p.Thumbprint + " " + p.ID))
	id := [16]byte(sum[:16])
	limit := r.Limit
	if limit == 0 {
		limit = defaultReplays
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	// A second more, because the times of proofs are whole seconds.
	r.turnLocked(2*window + time.Second)
	if _, seen := r.young[id]; seen {
		return invalid("it was used before")
	}
	if _, seen := r.old[id]; seen {
		return invalid("it was used before")
	}
	if len(r.young)+len(r.old) >= limit {
		return ErrReplays
	}
	r.young[id] = struct{}{}
	return nil
}

// turnLocked begins a new generation when the young one is as old as life.
func (r *Replays) turnLocked(life time.Duration) {
	now := time.Now()
	switch age := now.Sub(r.turned); {
	case r.young == nil, age >= 2*life:
		r.old, r.young = nil, map[[16]byte]struct{}{}
	case age >= life:
		r.old, r.young = r.young, map[[16]byte]struct{}{}
	default:
		return
	}
	r.turned = now
}

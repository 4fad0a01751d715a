package credentials

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ferrymcp/ferry/auth/oauth"
)

// How long the keyring may take to answer, which is long enough for a user to unlock
// it, and how long it is left alone after it could not be asked.
const (
	answerTime = 20 * time.Second
	pauseTime  = time.Minute
	keySize    = 32
)

var (
	// ErrOff tells that the user wants no keyring.
	ErrOff = errors.New(keyringVariable + "=" + keyringOff + " in the environment turns the keyring off")

	errSlow = errors.New("the keyring does not answer")
)

// A vault gets the key out of a keyring, once.
type vault struct {
	ring Keyring
	turn chan struct{} // full while somebody asks; guards what follows

	secret  []byte // nil: not known yet
	failure error  // why it is not, lately
	failed  time.Time
	asking  sync.WaitGroup // calls of the keyring: they end with it, or with the program
	late    chan answer    // of the call that was given up; nil: none
}

type answer struct {
	text string
	err  error
}

func newVault(ring Keyring) *vault { return &vault{ring: ring, turn: make(chan struct{}, 1)} }

// key returns the key; ErrNone if there is none yet.
func (v *vault) key(ctx context.Context) ([]byte, error) {
	if err := v.take(ctx); err != nil {
		return nil, err
	}
	defer v.leave()
	return v.known(ctx)
}

// makeKey is key, and makes one if there is none yet. Others who want to do the same
// wait for their turn at a lock of files.
func (v *vault) makeKey(ctx context.Context, files *oauth.FileStore) ([]byte, error) {
	if err := v.take(ctx); err != nil {
		return nil, err
	}
	defer v.leave()
	secret, err := v.known(ctx)
	if !errors.Is(err, ErrNone) {
		return secret, err
	}
	unlock, err := files.Lock(ctx, "key")
	if err != nil {
		return nil, err
	}
	defer unlock()
	if secret, err = v.known(ctx); !errors.Is(err, ErrNone) {
		return secret, err
	}
	secret = make([]byte, keySize)
	_, _ = rand.Read(secret) // never fails
	text := base64.StdEncoding.EncodeToString(secret)
	if _, err = v.ask(ctx, func() (string, error) { return "", v.ring.Set(text) }); err != nil {
		return nil, err
	}
	// A keyring that forgets at once would take the credentials with it.
	return v.known(ctx)
}

func (v *vault) take(ctx context.Context) error {
	select {
	case v.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (v *vault) leave() { <-v.turn }

// known returns the key that the keyring has.
func (v *vault) known(ctx context.Context) ([]byte, error) {
	switch {
	case v.ring == nil:
		return nil, ErrOff
	case v.secret != nil:
		return v.secret, nil
	}
	text, err := v.ask(ctx, v.ring.Get)
	if err != nil {
		return nil, err
	}
	secret, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(secret) != keySize {
		return nil, errors.New("the key in the keyring is not one of ours")
	}
	v.secret = secret
	return secret, nil
}

// ask calls the keyring, for a limited time. A call that hangs is left alone, and no
// other is made until it ends.
func (v *vault) ask(ctx context.Context, call func() (string, error)) (string, error) {
	if v.failure != nil && time.Since(v.failed) < pauseTime {
		return "", v.failure
	}
	if v.late != nil {
		select {
		case <-v.late:
			v.late = nil
		default:
			return "", errSlow
		}
	}
	answers := make(chan answer, 1)
	v.asking.Go(func() {
		text, err := call()
		answers <- answer{text, err}
	})
	timer := time.NewTimer(answerTime)
	defer timer.Stop()
	var got answer
	select {
	case got = <-answers:
	case <-timer.C:
		v.late, got.err = answers, errSlow
	case <-ctx.Done():
		v.late = answers
		return "", context.Cause(ctx)
	}
	v.failure = nil
	if got.err != nil && !errors.Is(got.err, ErrNone) {
		if !errors.Is(got.err, errSlow) {
			got.err = fmt.Errorf("open the keyring: %w", got.err)
		}
		v.failure, v.failed = got.err, time.Now()
	}
	return got.text, got.err
}

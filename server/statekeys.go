package server

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	ijson "github.com/ferrymcp/ferry/internal/json"
)

// stateKeys seal what travels through clients between the rounds of a call. The
// first one seals, all of them open.
//
//	requestState = base64url(version byte, nonce, ciphertext and tag)
//
// The tag covers what the state belongs to as well: the version, the server's
// name, the principal, the method, and what the request is about.
type stateKeys []cipher.AEAD

const (
	stateVersion = 1
	// minStateKey is the least length of a key of Options.StateKeys.
	minStateKey = 16
	// maxState bounds a state, which the client sends with its next request.
	maxState = 1 << 20

	defaultStateTTL = 15 * time.Minute
)

// newStateKeys makes the keys of what the options say; none is a random one.
func newStateKeys(secrets [][]byte) (stateKeys, error) {
	if len(secrets) == 0 {
		secret := make([]byte, sha256.Size)
		_, _ = rand.Read(secret) // never fails
		secrets = [][]byte{secret}
	}
	keys := make(stateKeys, len(secrets))
	for i, secret := range secrets {
		if len(secret) < minStateKey {
			return nil, fmt.Errorf("state key %d has %d bytes, want at least %d", i, len(secret), minStateKey)
		}
		key, err := hkdf.Key(sha256.New, secret, nil, "ferry requestState", sha256.Size)
		if err != nil {
			return nil, err
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		if keys[i], err = cipher.NewGCMWithRandomNonce(block); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

func (keys stateKeys) seal(state, belongs []byte) string {
	sealed := keys[0].Seal([]byte{stateVersion}, nil, state, belongs) //nolint:gosec // the nonce is random: it is part of what Seal returns
	return base64.RawURLEncoding.EncodeToString(sealed)
}

func (keys stateKeys) open(sealed string, belongs []byte) (state []byte, ok bool) {
	// The decoder skips line breaks: without them a state is written in one way.
	if len(sealed) > maxState || strings.ContainsAny(sealed, "\r\n") {
		return nil, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(sealed)
	if err != nil || len(raw) == 0 || raw[0] != stateVersion {
		return nil, false
	}
	for _, key := range keys {
		if state, err := key.Open(nil, nil, raw[1:], belongs); err == nil {
			return state, true
		}
	}
	return nil, false
}

// sealState seals the state of a call, which begins to expire now.
func (c *Call) sealState(state *roundState) (string, error) {
	state.Expires = time.Now().Add(c.srv.opts.StateTTL).Unix()
	raw, err := ijson.Marshal(state)
	if err != nil {
		return "", err
	}
	sealed := c.srv.keys.seal(raw, c.belongs())
	if len(sealed) > maxState {
		return "", fmt.Errorf("the state of %s %q takes %d bytes, more than %d", c.Method, c.Name, len(sealed), maxState)
	}
	return sealed, nil
}

// openState opens what sealState has sealed for the same request.
func (c *Call) openState(sealed string, state *roundState) error {
	raw, ok := c.srv.keys.open(sealed, c.belongs())
	if !ok {
		return invalidParams("params of %s: requestState is not from this server or not for this request; call again without it", c.Method)
	}
	if err := ijson.Unmarshal(raw, state); err != nil {
		return errors.Join(errors.New("read a state that was sealed here"), err)
	}
	if time.Now().Unix() >= state.Expires {
		*state = roundState{}
		return invalidParams("params of %s: requestState has expired; call again without it", c.Method)
	}
	return nil
}

// belongs says what a state belongs to: no two requests that differ in anything
// that matters have the same.
func (c *Call) belongs() []byte {
	arguments := c.arguments
	if len(arguments) == 0 {
		arguments = emptyObject
	}
	// A client may write the same arguments in another way the next time.
	sorted, err := ijson.Sorted(arguments)
	if err != nil {
		sorted = arguments
	}
	digest := sha256.Sum256(sorted)
	parts := [][]byte{[]byte(c.srv.info.Name), []byte(c.Principal), []byte(c.Method), []byte(c.Name), digest[:]}
	all := []byte{stateVersion}
	for _, part := range parts {
		all = binary.AppendUvarint(all, uint64(len(part)))
		all = append(all, part...)
	}
	return all
}

package server

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// cursorKeys sign the cursors of lists, so that what comes back was made here.
// The first one signs, all of them are accepted.
//
//	cursor = base64url(version byte, tag, key of the last feature shown)
//
// It stays right when features come and go, and is the same for the same place
// in a list, so that lists are too. The tag covers which list it is.
type cursorKeys [][]byte

const (
	cursorVersion = 1
	cursorTag     = 16 // bytes
	// maxCursor bounds what is looked at.
	maxCursor = 64 << 10
)

// newCursorKeys derives the keys from the secrets of Options.StateKeys, or from
// a random one.
func newCursorKeys(secrets [][]byte) (cursorKeys, error) {
	if len(secrets) == 0 {
		secret := make([]byte, sha256.Size)
		_, _ = rand.Read(secret) // never fails
		secrets = [][]byte{secret}
	}
	keys := make(cursorKeys, len(secrets))
	for i, secret := range secrets {
		var err error
		if keys[i], err = hkdf.Key(sha256.New, secret, nil, "ferry cursor", sha256.Size); err != nil {
			return nil, fmt.Errorf("derive cursor key %d: %w", i, err)
		}
	}
	return keys, nil
}

// sign returns the cursor for what comes after a feature in a list.
func (keys cursorKeys) sign(list, key string) *string {
	raw := make([]byte, 0, 1+cursorTag+len(key))
	raw = append(raw, cursorVersion)
	raw = append(raw, tag(keys[0], list, key)...)
	raw = append(raw, key...)
	cursor := base64.RawURLEncoding.EncodeToString(raw)
	return &cursor
}

// open returns the feature after which a list goes on. It reports false for what
// sign has not made for the list.
func (keys cursorKeys) open(list, cursor string) (key string, ok bool) {
	if len(cursor) > maxCursor {
		return "", false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) < 1+cursorTag || raw[0] != cursorVersion {
		return "", false
	}
	signed := raw[1 : 1+cursorTag]
	key = string(raw[1+cursorTag:])
	for _, k := range keys {
		if hmac.Equal(signed, tag(k, list, key)) {
			return key, true
		}
	}
	return "", false
}

func tag(secret []byte, list, key string) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(list))
	mac.Write([]byte{0})
	mac.Write([]byte(key))
	return mac.Sum(nil)[:cursorTag]
}

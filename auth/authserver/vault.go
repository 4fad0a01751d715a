package authserver

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/ferrymcp/ferry/internal/json"
)

// keySize is the size of Options.Key, in bytes.
const keySize = 32

// A vault is what the server's own secret is for: what it hands out and wants to
// know again (refresh tokens, ids of registered clients, cookies), and what it
// gives to the store, is encrypted for one purpose each.
type vault struct {
	aead   cipher.AEAD
	macKey []byte
	store  Store
}

func newVault(key []byte, store Store) (*vault, error) {
	if key == nil {
		key = make([]byte, keySize)
		_, _ = rand.Read(key) // never fails
	}
	if len(key) != keySize {
		return nil, fmt.Errorf("the key has %d bytes, it must have %d random ones", len(key), keySize)
	}
	sealKey, err := hkdf.Expand(sha256.New, key, "ferry authserver seal", keySize)
	if err != nil {
		return nil, err
	}
	macKey, err := hkdf.Expand(sha256.New, key, "ferry authserver mac", keySize)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(sealKey)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	return &vault{aead, macKey, store}, nil
}

// errSeal is the error of text that was not sealed here for the purpose.
var errSeal = errors.New("it is not one of this server")

// seal encrypts the JSON of v into text for URLs, headers and forms.
func (v *vault) seal(purpose string, value any) (string, error) {
	data, err := v.sealBytes(purpose, value)
	return base64.RawURLEncoding.EncodeToString(data), err
}

func (v *vault) sealBytes(purpose string, value any) ([]byte, error) {
	plain, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return v.aead.Seal(nil, nil, plain, []byte(purpose)), nil //nolint:gosec // it makes up the nonce
}

// open decrypts what seal made for the same purpose.
func (v *vault) open(purpose, text string, value any) error {
	data, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return errSeal
	}
	return v.openBytes(purpose, data, value)
}

func (v *vault) openBytes(purpose string, data []byte, value any) error {
	plain, err := v.aead.Open(nil, nil, data, []byte(purpose))
	if err != nil {
		return errSeal
	}
	return json.Unmarshal(plain, value)
}

// mac returns a name or a secret that follows from text and that others cannot tell.
func (v *vault) mac(purpose, text string) string {
	mac := hmac.New(sha256.New, v.macKey)
	mac.Write([]byte(purpose + "\x00" + text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// load reads the record of a kind with an id into value, and reports whether there
// is one.
func (v *vault) load(ctx context.Context, kind, id string, value any) (bool, error) {
	data, err := v.store.Load(ctx, v.key(kind, id))
	if err != nil || data == nil {
		return false, err
	}
	if err := v.openBytes(kind+" "+id, data, value); err != nil {
		return false, fmt.Errorf("read a %s from the store: %w", kind, err)
	}
	return true, nil
}

func (v *vault) key(kind, id string) string { return kind + ":" + v.mac("key", kind+" "+id) }

// update changes the record of a kind with an id in one step. The function has nil
// when there is none, and returns nil to remove it; its errors are returned.
func update[T any](ctx context.Context, v *vault, kind, id string, change func(*T) (*T, time.Time, error)) error {
	return v.store.Update(ctx, v.key(kind, id), func(data []byte) ([]byte, time.Time, error) {
		var old *T
		if data != nil {
			old = new(T)
			if err := v.openBytes(kind+" "+id, data, old); err != nil {
				return nil, time.Time{}, fmt.Errorf("read a %s from the store: %w", kind, err)
			}
		}
		next, expires, err := change(old)
		if err != nil || next == nil {
			return nil, time.Time{}, err
		}
		data, err = v.sealBytes(kind+" "+id, next)
		return data, expires, err
	})
}

// once remembers an id of a kind until it expires, and reports false when it was
// remembered already.
func (v *vault) once(ctx context.Context, kind, id string, expires time.Time) (first bool, err error) {
	err = update(ctx, v, kind, id, func(old *bool) (*bool, time.Time, error) {
		first = old == nil
		return &first, expires, nil
	})
	return first, err
}

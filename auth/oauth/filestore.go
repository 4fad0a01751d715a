package oauth

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A FileStore keeps each credential in a file of its own. Processes on one machine
// share a store by its folder, which must be on a disk of that machine: the locks of
// network file systems are not to be relied on.
type FileStore struct {
	dir    string
	sealer cipher.AEAD // nil: not encrypted
}

// NewFileStore returns the store in the folder dir, which it makes if need be, for
// its owner alone. With a key, of 32 random bytes, the files are encrypted
// (AES-256-GCM) and cannot be exchanged for one another; where to keep the key is for
// the caller to say, such as in the keyring of the system. With nil they are readable
// for whoever may read files of their owner.
func NewFileStore(dir string, key []byte) (*FileStore, error) {
	s := &FileStore{dir: dir}
	if key != nil {
		if len(key) != sha256.Size {
			return nil, fmt.Errorf("open credential store: the key has %d bytes, not 32", len(key))
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		if s.sealer, err = cipher.NewGCMWithRandomNonce(block); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open credential store: %w", err)
	}
	return s, nil
}

// The first byte of a file.
const (
	formPlain  = 'P'
	formSealed = 'S'
)

// Load implements Store.
func (s *FileStore) Load(_ context.Context, key string) ([]byte, error) {
	file := s.file(key, "")
	data, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read credential: %w", err)
	case len(data) == 0:
		return nil, fmt.Errorf("read credential: %s is empty", file)
	case data[0] == formPlain && s.sealer == nil:
		return data[1:], nil
	case data[0] != formSealed || s.sealer == nil:
		return nil, fmt.Errorf("read credential: %s is encrypted, and the store has no key for it, or the reverse", file)
	}
	opened, err := s.sealer.Open(nil, nil, data[1:], []byte(key))
	if err != nil {
		return nil, fmt.Errorf("read credential: %s does not decrypt with the key of the store", file)
	}
	return opened, nil
}

// Save implements Store. The file is replaced as a whole, after the new one has
// reached the disk: a refresh token that was lost in a crash cannot be had again.
func (s *FileStore) Save(_ context.Context, key string, data []byte) error {
	file := s.file(key, "")
	if len(data) == 0 {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forget credential: %w", err)
		}
		return nil
	}
	form := []byte{formPlain}
	if s.sealer == nil {
		data = append(form, data...)
	} else {
		form[0] = formSealed
		data = s.sealer.Seal(form, nil, data, []byte(key)) //nolint:gosec // this AEAD makes its nonces itself
	}
	if err := replace(file, data); err != nil {
		return fmt.Errorf("keep credential: %w", err)
	}
	return nil
}

func replace(file string, data []byte) (err error) {
	next := file + "." + rand.Text()
	f, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(next)
		}
	}()
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(next, file)
}

// How often a lock that another holds is tried, at first and in the end. The calls that
// wait for one cannot be interrupted.
const (
	minLockPoll = 5 * time.Millisecond
	maxLockPoll = 250 * time.Millisecond
)

// Lock implements Store, with a lock of the system on a file beside the credential.
func (s *FileStore) Lock(ctx context.Context, key string) (func(), error) {
	f, err := os.OpenFile(s.file(key, ".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock credential: %w", err)
	}
	for wait := minLockPoll; ; wait = min(2*wait, maxLockPoll) {
		locked, err := tryLock(f)
		if err != nil {
			_ = f.Close()
			return nil, fmt.Errorf("lock credential: %w", err)
		}
		if locked {
			return func() { _ = f.Close() }, nil // which gives the lock back
		}
		if err := sleep(ctx, wait); err != nil {
			_ = f.Close()
			return nil, fmt.Errorf("lock credential: %w", err)
		}
	}
}

// file returns the file for a key. Names of servers are nobody's business.
func (s *FileStore) file(key, suffix string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:16])+suffix)
}

// sleep waits for a time, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

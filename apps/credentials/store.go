// Package credentials keeps what a user has logged in with: in files below the
// folder of the user's configuration, encrypted with a key that is in the keyring of
// the system. Where there is no keyring, as on most machines without a screen, the
// files are for their owner alone to read, and somebody is told.
//
// The keyring is asked only when there is something to decrypt or to encrypt. How
// tokens are got and refreshed is the business of package auth/oauth.
package credentials

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/ferrymcp/ferry/auth/oauth"
)

// A Store is an oauth.Store whose key is in a keyring. Files that were written while
// there was no keyring stay readable, and are encrypted when they are next written.
// Its methods may be called concurrently; there is nothing to close.
type Store struct {
	dir   string
	vault *vault
	warn  func(string)
	once  sync.Once // of warn
}

var _ oauth.Store = (*Store)(nil)

// Options say how a Store works. Nil is valid.
type Options struct {
	// Dir is the folder of the files, which is made when there is something to keep;
	// by default Dir().
	Dir string
	// Keyring has the key; by default that of the system, or none if the environment
	// says FERRY_KEYRING=off.
	Keyring Keyring
	// Warn is told once, on one line, when credentials are kept without encryption
	// that nobody has asked for; nil tells nobody.
	Warn func(string)
}

// Dir returns the folder in which a user's credentials are.
func Dir() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the folder for credentials: %w", err)
	}
	return filepath.Join(dir, "ferry", "credentials"), nil
}

// New returns a store. It reads nothing yet; the error is that there is no folder for
// the configuration of a user.
func New(opts *Options) (*Store, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Dir == "" {
		dir, err := Dir()
		if err != nil {
			return nil, err
		}
		o.Dir = dir
	}
	if o.Keyring == nil && os.Getenv(keyringVariable) != keyringOff {
		o.Keyring = System{}
	}
	return &Store{dir: o.Dir, warn: o.Warn, vault: newVault(o.Keyring)}, nil
}

// Load implements oauth.Store.
func (s *Store) Load(ctx context.Context, key string) ([]byte, error) {
	if _, err := os.Stat(s.dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	plain, err := s.open(nil)
	if err != nil {
		return nil, err
	}
	data, err := plain.Load(ctx, key)
	if err == nil {
		return data, nil
	}
	secret, keyErr := s.vault.key(ctx)
	if keyErr != nil {
		return nil, fmt.Errorf("decrypt credential: %w", keyErr)
	}
	sealed, err := s.open(secret)
	if err != nil {
		return nil, err
	}
	return sealed.Load(ctx, key)
}

// Save implements oauth.Store.
func (s *Store) Save(ctx context.Context, key string, data []byte) error {
	plain, err := s.open(nil)
	if err != nil {
		return err
	}
	if len(data) == 0 {
		return plain.Save(ctx, key, nil)
	}
	secret, err := s.vault.makeKey(ctx, plain)
	switch {
	case err == nil:
		sealed, err := s.open(secret)
		if err != nil {
			return err
		}
		return sealed.Save(ctx, key, data)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !errors.Is(err, ErrOff) && s.warn != nil:
		s.once.Do(func() {
			s.warn(fmt.Sprintf("warning: credentials are kept unencrypted in %s, for you alone to read: %v", s.dir, err))
		})
	}
	return plain.Save(ctx, key, data)
}

// Lock implements oauth.Store.
func (s *Store) Lock(ctx context.Context, key string) (func(), error) {
	plain, err := s.open(nil)
	if err != nil {
		return nil, err
	}
	return plain.Lock(ctx, key)
}

// open returns the files, encrypted with a key unless that is nil. The folder is
// closed to others, if somebody else has made it open.
func (s *Store) open(key []byte) (*oauth.FileStore, error) {
	files, err := oauth.NewFileStore(s.dir, key)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(s.dir)
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = os.Chmod(s.dir, 0o700) //nolint:gosec // a folder has to be entered
	}
	if err != nil {
		return nil, fmt.Errorf("open credential store: %w", err)
	}
	return files, nil
}

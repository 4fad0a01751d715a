package auth

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	ijson "github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/oauthwire"
)

const (
	defaultRefresh   = 15 * time.Minute
	defaultKeepStale = 24 * time.Hour
	// fetchEvery is how long an issuer is left alone after it was asked.
	fetchEvery = 5 * time.Second
	// fetchTime bounds asking an issuer for what cannot be done without.
	fetchTime = 10 * time.Second

	maxKeys    = 100
	maxTries   = 10 // of keys for one token
	minRSABits = 2048
	maxRSABits = 16384
)

// A keySet is the public keys of an issuer. Whoever needs keys that are not there
// fetches them, one at a time and not too often; the others wait, or go on with
// those that there are.
type keySet struct {
	source    *issuerSource // nil when the keys are fixed
	url       string        // empty when the issuer's metadata says it
	refresh   time.Duration
	keepStale time.Duration

	mu       sync.Mutex
	keys     []jose.JSONWebKey
	fetched  time.Time     // when the keys came
	tried    time.Time     // when the last attempt ended
	failed   error         // of that attempt
	fetching chan struct{} // closed when the running attempt has ended; nil when there is none
}

func (s *keySet) init(source *issuerSource, o *JWTOptions) error {
	s.source, s.url, s.refresh, s.keepStale = source, o.JWKS, o.Refresh, o.KeepStale
	if s.refresh <= 0 {
		s.refresh = defaultRefresh
	}
	if s.keepStale <= 0 {
		s.keepStale = defaultKeepStale
	}
	if o.Keys != nil {
		s.source = nil
		keys, err := readKeys(o.Keys)
		s.keys = keys
		return err
	}
	if s.url != "" {
		_, err := oauthwire.ParseURL(s.url)
		return err
	}
	return nil
}

// find returns the keys that a token may be signed with: those of its key id, or
// all when it names none. There are none when the issuer has no such key. The error
// says that this is not known.
func (s *keySet) find(ctx context.Context, id, alg string) ([]jose.JSONWebKey, error) {
	for {
		keys, wait, fetch, err := s.look(id, alg, time.Now())
		switch {
		case fetch:
			s.fetch(ctx)
		case wait != nil:
			select {
			case <-wait:
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		default:
			return keys, err
		}
	}
}

// look decides what is to be done: use the keys, wait for whoever fetches them, or
// fetch them, which the caller then has to do.
func (s *keySet) look(id, alg string, now time.Time) (keys []jose.JSONWebKey, wait <-chan struct{}, fetch bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	age := now.Sub(s.fetched)
	if age < s.keepStale || s.source == nil {
		keys = matching(s.keys, id, alg)
	}
	switch {
	case s.source == nil, len(keys) > 0 && age < s.refresh:
		return keys, nil, false, nil
	case s.fetching != nil && len(keys) > 0:
		return keys, nil, false, nil // nobody has to wait for what is only older
	case s.fetching != nil:
		return nil, s.fetching, false, nil
	case now.Sub(s.tried) >= fetchEvery:
		s.fetching = make(chan struct{})
		return nil, nil, true, nil
	case len(keys) == 0 && s.failed != nil:
		return nil, nil, false, s.failed
	}
	return keys, nil, false, nil
}

// fetch fetches the keys, also when the one who needs them first does not wait.
func (s *keySet) fetch(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTime)
	defer cancel()
	var keys []jose.JSONWebKey
	err := errors.New("asking the issuer has panicked") // unless it returns
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if err == nil {
			s.keys, s.fetched = keys, time.Now()
		}
		s.tried, s.failed = time.Now(), err
		close(s.fetching)
		s.fetching = nil
	}()
	keys, err = s.ask(ctx)
}

func (s *keySet) ask(ctx context.Context) ([]jose.JSONWebKey, error) {
	address := s.url
	if address == "" {
		metadata, err := s.source.metadata(ctx)
		if err != nil {
			return nil, err
		}
		if address = metadata.JWKSURI; address == "" {
			return nil, errors.New("the metadata of the issuer has no jwks_uri; set JWTOptions.JWKS")
		}
	}
	data, err := s.source.get(ctx, address)
	if err != nil {
		return nil, err
	}
	return readKeys(data)
}

// matching returns the keys for a key id and an algorithm.
func matching(keys []jose.JSONWebKey, id, alg string) []jose.JSONWebKey {
	var out []jose.JSONWebKey
	for _, key := range keys {
		if (id == "" || key.KeyID == id) && (key.Algorithm == "" || key.Algorithm == alg) {
			out = append(out, key)
		}
	}
	return out
}

// readKeys reads a key set (RFC 7517, section 5). Keys that are of no use here are
// left out: a set may have keys of kinds that are not known yet.
func readKeys(data []byte) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := ijson.Unmarshal(data, &set); err != nil {
		return nil, fmt.Errorf("read the keys of an issuer: %w", err)
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("read the keys of an issuer: there are %d, more than %d", len(set.Keys), maxKeys)
	}
	var keys []jose.JSONWebKey
	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(raw) == nil && verifies(&key) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("read the keys of an issuer: there is none to verify signatures with")
	}
	return keys, nil
}

// verifies reports whether a key is a public one for signatures.
func verifies(key *jose.JSONWebKey) bool {
	if !key.Valid() || !key.IsPublic() || key.Use != "" && key.Use != "sig" {
		return false
	}
	if public, ok := key.Key.(*rsa.PublicKey); ok {
		bits := public.N.BitLen()
		return minRSABits <= bits && bits <= maxRSABits
	}
	return true
}

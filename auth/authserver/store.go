package authserver

import (
	"context"
	"errors"
	"sync"
	"time"
)

// A Store keeps what a [Server] must remember: codes, grants, signing keys. The
// server hands it keys that are hashes and values that are encrypted, so a store
// that is read by others tells them nothing. Its methods may be called
// concurrently.
type Store interface {
	// Load returns the value of a key; nil when there is none, or when it has
	// expired. It must not be changed.
	Load(ctx context.Context, key string) ([]byte, error)
	// Update calls change with the value of a key, as Load returns it, and keeps
	// what that returns until it expires; no value removes the key, and a zero time
	// keeps the value for good. Nothing else happens to the key meanwhile: a store
	// that cannot lock calls change again when the value was another one in the end.
	// An error of change leaves everything as it is, and is returned.
	Update(ctx context.Context, key string, change Change) error
}

// A Change makes the next value of a key. It has no effect but its results, and
// does not call the store.
type Change func(value []byte) (next []byte, expires time.Time, err error)

// ErrFull is returned by stores that are bounded, and full.
var ErrFull = errors.New("the store of the authorization server is full")

// defaultEntries is how much a Memory keeps unless it is told otherwise.
const defaultEntries = 100_000

// A Memory is a Store in the memory of the process. When it is full it keeps
// nothing new until something expires, because to drop what is not expired would
// forget what was revoked.
type Memory struct {
	max int

	mu      sync.Mutex
	entries map[string]entry
	swept   time.Time // when expired entries were last looked for
}

type entry struct {
	Value   []byte    `json:"value"`
	Expires time.Time `json:"expires,omitzero"`
}

func (e entry) expired(now time.Time) bool { return !e.Expires.IsZero() && !now.Before(e.Expires) }

// NewMemory returns a store for at most so many keys; 0 means 100,000.
func NewMemory(entries int) *Memory {
	if entries <= 0 {
		entries = defaultEntries
	}
	return &Memory{max: entries, entries: map[string]entry{}}
}

// Load implements [Store].
func (m *Memory) Load(_ context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.loadLocked(key), nil
}

func (m *Memory) loadLocked(key string) []byte {
	e := m.entries[key]
	if e.expired(time.Now()) {
		return nil
	}
	return e.Value
}

// Update implements [Store].
func (m *Memory) Update(_ context.Context, key string, change Change) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, expires, err := change(m.loadLocked(key))
	if err != nil {
		return err
	}
	return m.putLocked(key, entry{value, expires})
}

// putLocked keeps or removes an entry. It looks for expired ones once a minute, and
// when there is no room.
func (m *Memory) putLocked(key string, e entry) error {
	if e.Value == nil {
		delete(m.entries, key)
		return nil
	}
	_, known := m.entries[key]
	full := !known && len(m.entries) >= m.max
	if now := time.Now(); now.Sub(m.swept) >= time.Minute || full && now.Sub(m.swept) >= time.Second {
		m.swept = now
		for key, e := range m.entries {
			if e.expired(now) {
				delete(m.entries, key)
			}
		}
		full = !known && len(m.entries) >= m.max
	}
	if full {
		return ErrFull
	}
	m.entries[key] = e
	return nil
}

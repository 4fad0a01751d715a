package oauth

import (
	"context"
	"sync"
)

// A Store keeps credentials, which are secrets, from one use to the next. Everybody
// who shares a store shares the credentials, processes included: the locks keep them
// from refreshing the same token at the same time. Its methods may be called
// concurrently.
type Store interface {
	// Load returns what is kept under a key; nil if nothing is.
	Load(ctx context.Context, key string) ([]byte, error)
	// Save keeps data under a key, all of it or nothing. No data means to forget it.
	Save(ctx context.Context, key string, data []byte) error
	// Lock waits until nobody else holds the lock of the key. unlock is called once;
	// when a process ends, so do its locks. Load and Save do not depend on it.
	Lock(ctx context.Context, key string) (unlock func(), err error)
}

// NewMemoryStore returns a store that ends with the process.
func NewMemoryStore() Store {
	return &memoryStore{data: map[string][]byte{}, locks: map[string]chan struct{}{}}
}

type memoryStore struct {
	mu    sync.Mutex
	data  map[string][]byte
	locks map[string]chan struct{} // full while locked
}

func (m *memoryStore) Load(_ context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.data[key], nil
}

func (m *memoryStore) Save(_ context.Context, key string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(data) == 0 {
		delete(m.data, key)
		return nil
	}
	m.data[key] = append([]byte(nil), data...)
	return nil
}

func (m *memoryStore) Lock(ctx context.Context, key string) (func(), error) {
	m.mu.Lock()
	lock, ok := m.locks[key]
	if !ok {
		lock = make(chan struct{}, 1)
		m.locks[key] = lock
	}
	m.mu.Unlock()
	select {
	case lock <- struct{}{}:
		return func() { <-lock }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

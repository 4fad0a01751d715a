package auth

import (
	"crypto/sha256"
	"sync"
)

// A tokenHash stands for a token, which is kept nowhere.
type tokenHash [sha256.Size]byte

var hashBuffers = sync.Pool{New: func() any { return new([]byte) }}

func hashOf(token string) tokenHash {
	buf, _ := hashBuffers.Get().(*[]byte)
	*buf = append((*buf)[:0], token...)
	sum := sha256.Sum256(*buf)
	clear(*buf)
	hashBuffers.Put(buf)
	return sum
}

// A cache keeps something for each token. It has two generations: when the young
// one is full it becomes the old one, which is dropped then. What is used stays.
type cache[T any] struct {
	limit int

	mu         sync.Mutex
	young, old map[tokenHash]T
}

func (c *cache[T]) get(hash tokenHash) (T, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.young[hash]
	if ok {
		return v, true
	}
	if v, ok = c.old[hash]; ok {
		c.putLocked(hash, v)
	}
	return v, ok
}

func (c *cache[T]) put(hash tokenHash, v T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.putLocked(hash, v)
}

func (c *cache[T]) putLocked(hash tokenHash, v T) {
	if c.young == nil || len(c.young) >= max(c.limit/2, 1) {
		c.old, c.young = c.young, map[tokenHash]T{}
	}
	c.young[hash] = v
}

func (c *cache[T]) drop(hash tokenHash) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.young, hash)
	delete(c.old, hash)
}

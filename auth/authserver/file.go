package authserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ferrymcp/ferry/internal/json"
)

// A File is a Store in a file, for a server that is started again: users stay
// signed in. It belongs to one process at a time. Each change writes the file anew,
// which is quick enough for a team.
type File struct {
	path   string
	memory *Memory

	mu sync.Mutex // held while a change is made and written
}

// fileEntries is how much a File keeps.
const fileEntries = 10_000

// OpenFile opens the store in a file, which is made, for its owner only, with the
// first change if there is none. There is nothing to close.
func OpenFile(path string) (*File, error) {
	f := &File{path: path, memory: NewMemory(fileEntries)}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the store of the authorization server: %w", err)
	}
	if err := json.Unmarshal(data, &f.memory.entries); err != nil {
		return nil, fmt.Errorf("open the store of the authorization server: read %s: %w", path, err)
	}
	return f, nil
}

// Load implements [Store].
func (f *File) Load(ctx context.Context, key string) ([]byte, error) { return f.memory.Load(ctx, key) }

// Update implements [Store].
func (f *File) Update(ctx context.Context, key string, change Change) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var before entry
	f.memory.mu.Lock()
	before = f.memory.entries[key]
	f.memory.mu.Unlock()
	if err := f.memory.Update(ctx, key, change); err != nil {
		return err
	}
	if err := f.write(); err != nil {
		// What is not written has not happened.
		f.memory.mu.Lock()
		defer f.memory.mu.Unlock()
		return errors.Join(err, f.memory.putLocked(key, before))
	}
	return nil
}

// write writes everything to a new file, and puts that in the place of the old one.
func (f *File) write() (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write the store of the authorization server: %w", err)
		}
	}()
	f.memory.mu.Lock()
	now := time.Now()
	live := make(map[string]entry, len(f.memory.entries))
	for key, e := range f.memory.entries {
		if !e.expired(now) {
			live[key] = e
		}
	}
	f.memory.mu.Unlock()
	data, err := json.Marshal(live)
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(f.path), filepath.Base(f.path)+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = temporary.Write(data)
	if err = errors.Join(err, temporary.Sync(), temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), f.path) //nolint:gosec // the operator names the file
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name())) //nolint:gosec // as above
	}
	return nil
}

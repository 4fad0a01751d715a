package oauth_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/auth/oauth"
	"github.com/ferrymcp/ferry/mcptest"
)

func newKey() []byte {
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	return key
}

func fileStore(t testing.TB, dir string, key []byte) *oauth.FileStore {
	t.Helper()
	s, err := oauth.NewFileStore(dir, key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestStores holds all stores to what the interface says.
func TestStores(t *testing.T) {
	t.Parallel()
	key := newKey()
	for name, open := range map[string]func(t *testing.T) (a, b oauth.Store){
		"memory": func(*testing.T) (oauth.Store, oauth.Store) { s := oauth.NewMemoryStore(); return s, s },
		"plain": func(t *testing.T) (oauth.Store, oauth.Store) {
			dir := t.TempDir()
			return fileStore(t, dir, nil), fileStore(t, dir, nil)
		},
		"encrypted": func(t *testing.T) (oauth.Store, oauth.Store) {
			dir := t.TempDir()
			return fileStore(t, dir, key), fileStore(t, dir, key)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			a, b := open(t)
			if data, err := a.Load(ctx, "k"); data != nil || err != nil {
				t.Errorf("what is not there = %q, %v", data, err)
			}
			for _, want := range []string{"one", "two"} {
				if err := a.Save(ctx, "k", []byte(want)); err != nil {
					t.Fatal(err)
				}
				if data, err := b.Load(ctx, "k"); string(data) != want || err != nil {
					t.Errorf("loaded %q, %v, want %q", data, err, want)
				}
			}
			if err := errors.Join(a.Save(ctx, "k", nil), a.Save(ctx, "k", nil)); err != nil {
				t.Error(err)
			}
			if data, err := b.Load(ctx, "k"); data != nil || err != nil {
				t.Errorf("what was forgotten = %q, %v", data, err)
			}

			unlock, err := a.Lock(ctx, "k")
			if err != nil {
				t.Fatal(err)
			}
			other, err := b.Lock(ctx, "another")
			if err != nil {
				t.Fatal(err)
			}
			other()
			short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
			defer cancel()
			if _, err := b.Lock(short, "k"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("locked twice: %v", err)
			}
			unlock()
			if unlock, err = b.Lock(ctx, "k"); err != nil {
				t.Fatal(err)
			}
			unlock()

			var wg sync.WaitGroup
			var n, inside atomic.Int32
			for i := range 20 {
				s := []oauth.Store{a, b}[i%2]
				wg.Go(func() {
					unlock, err := s.Lock(ctx, "n")
					if err != nil {
						t.Error(err)
						return
					}
					if inside.Add(1) != 1 {
						t.Error("two have the lock at the same time")
					}
					n.Add(1)
					inside.Add(-1)
					unlock()
				})
			}
			wg.Wait()
			if got := n.Load(); got != 20 {
				t.Errorf("%d locks, want 20", got)
			}
		})
	}
}

// TestFileStoreSecrecy reads the files behind the store's back.
func TestFileStoreSecrecy(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-TOKEN-STORAGE", "AUTH-REFRESH-CONFIDENTIAL")
	ctx, dir, key := t.Context(), filepath.Join(t.TempDir(), "credentials"), newKey()
	s := fileStore(t, dir, key)
	for _, k := range []string{"token https://a.example", "token https://b.example"} {
		if err := s.Save(ctx, k, []byte("hunter2 of "+k)); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("files %q, %v, want two", files, err)
	}
	for _, file := range append(files, dir) {
		info, err := os.Stat(file)
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v, %v", file, info.Mode(), err)
		}
	}
	first, second := read(t, files[0]), read(t, files[1])
	if bytes.Contains(first, []byte("hunter2")) || bytes.Contains(first, []byte("example")) {
		t.Errorf("the file shows what is in it: %q", first)
	}
	if _, err := fileStore(t, dir, newKey()).Load(ctx, "token https://a.example"); err == nil {
		t.Error("another key opens the store")
	}
	if _, err := fileStore(t, dir, nil).Load(ctx, "token https://a.example"); err == nil {
		t.Error("no key opens the store")
	}
	// Exchanged, changed and cut files are errors, not credentials.
	changed := bytes.Clone(first)
	changed[len(changed)-1] ^= 1
	for name, data := range map[string][]byte{
		"exchanged": second, "changed": changed, "cut": first[:10], "empty": {}, "plain": []byte("P{}"), "other": []byte("x"),
	} {
		if err := os.WriteFile(files[0], data, 0o600); err != nil {
			t.Fatal(err)
		}
		failed := 0
		for _, k := range []string{"token https://a.example", "token https://b.example"} {
			if _, err := s.Load(ctx, k); err != nil {
				failed++
			}
		}
		if failed != 1 {
			t.Errorf("%s: %d files are errors, want one", name, failed)
		}
	}
	for _, n := range []int{0, 16, 31, 33} {
		if _, err := oauth.NewFileStore(dir, make([]byte, n)); err == nil {
			t.Errorf("a key of %d bytes is accepted", n)
		}
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestUnreadableStore does not log in over credentials that cannot be read, unless
// somebody says so.
func TestUnreadableStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	is := w.issuer(asURL)
	w.resource(mcpURL, is)
	dir := t.TempDir()
	mustSend(t, w.client(&oauth.Options{Store: fileStore(t, dir, newKey())}), mcpURL, "x")
	c := w.client(&oauth.Options{Store: fileStore(t, dir, newKey())})
	var e *oauth.Error
	if _, err := send(t, c, mcpURL, "x"); !errors.As(err, &e) || e.Step != "store" || len(is.asked) != 1 {
		t.Errorf("error %v, %d logins, want one of the step store", err, len(is.asked))
	}
	if err := c.Logout(t.Context(), mcpURL); err != nil {
		t.Error(err)
	}
	if err := c.Login(t.Context(), mcpURL); err != nil {
		t.Error(err)
	}
	mustSend(t, c, mcpURL, "x")
}

package credentials_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/apps/credentials"
)

// A ring is a keyring in memory.
type ring struct {
	mu     sync.Mutex
	secret string
	err    error
	calls  int
}

func (r *ring) Get() (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	if r.err == nil && r.secret == "" {
		return "", credentials.ErrNone
	}
	return r.secret, r.err
}

func (r *ring) Set(secret string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	if r.err == nil {
		r.secret = secret
	}
	return r.err
}

func (r *ring) called() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls
}

// open opens a store, and returns how often it has warned.
func open(t *testing.T, dir string, k credentials.Keyring) (*credentials.Store, *[]string) {
	t.Helper()
	warnings := new([]string)
	s, err := credentials.New(&credentials.Options{Dir: dir, Keyring: k, Warn: func(text string) { *warnings = append(*warnings, text) }})
	if err != nil {
		t.Fatal(err)
	}
	return s, warnings
}

func load(t *testing.T, s *credentials.Store, want string) {
	t.Helper()
	if got, err := s.Load(t.Context(), "key"); err != nil || string(got) != want {
		t.Errorf("load: got %q, %v, want %q", got, err, want)
	}
}

func save(t *testing.T, s *credentials.Store, data string) {
	t.Helper()
	if err := s.Save(t.Context(), "key", []byte(data)); err != nil {
		t.Fatal(err)
	}
}

// inFiles reports whether a text is in one of the files of a folder.
func inFiles(t *testing.T, dir, text string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), text) {
			return true
		}
	}
	return false
}

func TestEncrypted(t *testing.T) {
	t.Parallel()
	dir, k := filepath.Join(t.TempDir(), "credentials"), new(ring)
	s, warnings := open(t, dir, k)
	load(t, s, "")
	if _, err := os.Stat(dir); err == nil || k.called() > 0 {
		t.Errorf("after looking for what is not there: folder %v, %d calls of the keyring; want neither", err == nil, k.called())
	}
	save(t, s, "s3cret")
	load(t, s, "s3cret")
	other, _ := open(t, dir, k)
	load(t, other, "s3cret")
	if inFiles(t, dir, "s3cret") || len(*warnings) > 0 {
		t.Errorf("with a keyring: in the files %v, warnings %q", inFiles(t, dir, "s3cret"), *warnings)
	}
	if info, err := os.Stat(dir); runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != 0o700) {
		t.Errorf("folder: got %v, %v, want 0700", info.Mode(), err)
	}

	// Without the key there is an error, and nothing is lost.
	locked, _ := open(t, dir, &ring{err: errors.New("locked")})
	if _, err := locked.Load(t.Context(), "key"); err == nil || !strings.Contains(err.Error(), "locked") {
		t.Errorf("load with a locked keyring: got %v", err)
	}
	load(t, other, "s3cret")
	if err := locked.Save(t.Context(), "key", nil); err != nil {
		t.Errorf("forget with a locked keyring: %v", err)
	}
	load(t, other, "")
}

func TestWithoutKeyring(t *testing.T) {
	t.Parallel()
	dir, k := t.TempDir(), &ring{err: errors.New("there is none")}
	s, warnings := open(t, dir, k)
	save(t, s, "one")
	save(t, s, "two")
	load(t, s, "two")
	if len(*warnings) != 1 || !strings.Contains((*warnings)[0], dir) {
		t.Errorf("warnings: got %q, want one that names the folder", *warnings)
	}
	if k.called() != 1 {
		t.Errorf("%d calls of a keyring that is not there, want 1", k.called())
	}
	// What is there is encrypted once there is a keyring.
	better, _ := open(t, dir, new(ring))
	load(t, better, "two")
	save(t, better, "three")
	load(t, better, "three")
	if inFiles(t, dir, "three") {
		t.Error("with a keyring: not encrypted")
	}
}

// A slow keyring never answers.
type slow struct{ end chan struct{} }

func (s slow) Get() (string, error) { <-s.end; return "", errors.New("too late") }
func (s slow) Set(string) error     { <-s.end; return errors.New("too late") }

func TestKeyringHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := slow{make(chan struct{})}
		defer close(k.end)
		s, warnings := open(t, t.TempDir(), k)
		began := time.Now()
		save(t, s, "one")
		save(t, s, "two")
		if took := time.Since(began); took > 30*time.Second || len(*warnings) != 1 {
			t.Errorf("took %v, warnings %q; want less than 30 s and one", took, *warnings)
		}
		load(t, s, "two")

		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		other, _ := open(t, t.TempDir(), k)
		if err := other.Save(impatient, "key", []byte("x")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("save without patience: got %v, want that the time is over", err)
		}
	})
}

// TestOneKey has many make the key at once.
func TestOneKey(t *testing.T) {
	t.Parallel()
	dir, k := t.TempDir(), new(ring)
	var wg sync.WaitGroup
	for range 8 {
		s, _ := open(t, dir, k)
		wg.Go(func() {
			if err := s.Remember(t.Context(), "https://a.example/mcp"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s, _ := open(t, dir, k)
	if got, err := s.Endpoints(t.Context()); err != nil || len(got) != 1 {
		t.Errorf("endpoints: got %v, %v, want one", got, err)
	}
	if err := s.Forget(t.Context(), "https://a.example/mcp"); err != nil {
		t.Error(err)
	}
	if got, err := s.Endpoints(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("endpoints after that: got %v, %v, want none", got, err)
	}
}

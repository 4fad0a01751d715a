package authserver_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/auth/authserver"
	"github.com/ferrymcp/ferry/mcptest"
)

// testStore checks what every store has to do.
func testStore(t *testing.T, store authserver.Store) {
	t.Helper()
	ctx := t.Context()
	set := func(key, value string, expires time.Time) error {
		return store.Update(ctx, key, func([]byte) ([]byte, time.Time, error) {
			if value == "" {
				return nil, time.Time{}, nil
			}
			return []byte(value), expires, nil
		})
	}
	check := func(key, want string) {
		t.Helper()
		got, err := store.Load(ctx, key)
		if err != nil || string(got) != want {
			t.Errorf("%s: got %q %v, want %q", key, got, err, want)
		}
	}
	check("a", "")
	for _, step := range []error{set("a", "1", time.Time{}), set("b", "2", time.Now().Add(time.Hour)), set("c", "3", time.Now())} {
		if step != nil {
			t.Fatal(step)
		}
	}
	check("a", "1")
	check("b", "2")
	check("c", "")
	broken := errors.New("broken")
	if err := store.Update(ctx, "a", func(old []byte) ([]byte, time.Time, error) { return []byte("x"), time.Time{}, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v, want the error of the change", err)
	}
	check("a", "1")
	if err := set("a", "", time.Time{}); err != nil {
		t.Fatal(err)
	}
	check("a", "")
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			_ = store.Update(ctx, "n", func(old []byte) ([]byte, time.Time, error) {
				return append(slices.Clip(old), 'x'), time.Time{}, nil
			})
		})
	}
	wg.Wait()
	check("n", strings.Repeat("x", 50))
}

func TestMemory(t *testing.T) {
	t.Parallel()
	testStore(t, authserver.NewMemory(0))
	synctest.Test(t, func(t *testing.T) {
		store := authserver.NewMemory(2)
		put := func(key string, life time.Duration) error {
			return store.Update(t.Context(), key, func([]byte) ([]byte, time.Time, error) { return []byte("v"), time.Now().Add(life), nil })
		}
		if err := errors.Join(put("a", time.Minute), put("b", time.Hour), put("b", time.Hour)); err != nil {
			t.Fatal(err)
		}
		if err := put("c", time.Hour); !errors.Is(err, authserver.ErrFull) {
			t.Errorf("full: got %v, want ErrFull", err)
		}
		time.Sleep(time.Minute)
		if err := put("c", time.Hour); err != nil {
			t.Errorf("one has expired: got %v", err)
		}
	})
}

// A spy keeps what a server gives to its store.
type spy struct {
	*authserver.Memory

	mu   sync.Mutex
	seen strings.Builder
	fail error
}

func (s *spy) Update(ctx context.Context, key string, change authserver.Change) error {
	s.mu.Lock()
	fail := s.fail
	s.mu.Unlock()
	if fail != nil {
		return fail
	}
	return s.Memory.Update(ctx, key, func(old []byte) ([]byte, time.Time, error) {
		next, expires, err := change(old)
		s.mu.Lock()
		defer s.mu.Unlock()
		fmt.Fprintf(&s.seen, "%s %s\n", key, next)
		return next, expires, err
	})
}

// TestStoreKnowsNothing looks for secrets in what is stored, restarts the server, and
// lets the store fail.
func TestStoreKnowsNothing(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-TOKEN-STORAGE")
	store := &spy{Memory: authserver.NewMemory(0)}
	key := []byte(strings.Repeat("k", 32))
	options := func(o *authserver.Options) { o.Store, o.Key = store, key }
	b := start(t, options)
	verifier, challenge := newPair()
	code := b.allow(request("app", callback, challenge)).Get("code")
	access, refresh := b.tokens(b.token("authorization_code", "client_id", "app", "code", code, "code_verifier", verifier))
	store.mu.Lock()
	seen := store.seen.String()
	store.mu.Unlock()
	for _, secret := range []string{code, access, refresh, verifier, challenge, "user-1", resource, `"kty"`} {
		if strings.Contains(seen, secret) {
			t.Errorf("the store has seen %q", secret)
		}
	}
	if seen == "" {
		t.Error("the store has seen nothing")
	}

	again := start(t, func(o *authserver.Options) { options(o); o.Issuer = b.issuer })
	if got := again.get(again.issuer + "/jwks"); got.status != http.StatusOK || !strings.Contains(got.body, keyOf(t, access)) {
		t.Errorf("after a restart: got %s, want the same keys", got.body)
	}

	store.mu.Lock()
	store.fail = errors.New("the disk with the password hunter2 is gone")
	store.mu.Unlock()
	got := b.token("refresh_token", "client_id", "app", "refresh_token", refresh)
	b.wantError(got, 500, "server_error")
	if strings.Contains(got.body, "hunter2") {
		t.Errorf("got %s, want nothing of the cause", got.body)
	}
	store.mu.Lock()
	store.fail = authserver.ErrFull
	store.mu.Unlock()
	b.wantError(b.token("refresh_token", "client_id", "app", "refresh_token", refresh), 503, "temporarily_unavailable")
	store.mu.Lock()
	store.fail = nil
	store.mu.Unlock()
	b.tokens(b.token("refresh_token", "client_id", "app", "refresh_token", refresh))
}

package authserver_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/auth"
	"github.com/ferrymcp/ferry/auth/authserver"
)

// TestVerify lets a resource in the same process ask about tokens.
func TestVerify(t *testing.T) {
	t.Parallel()
	b, srv := startServer(t, nil)
	access, refresh := b.tokens(b.login("app", "scope", "read write"))
	id, err := srv.Verify(t.Context(), access)
	if err != nil {
		t.Fatal(err)
	}
	if id.Issuer != b.issuer || id.Subject != "user-1" || id.ClientID != "app" || !id.Has("read", "write") || id.Audience[0] != resource ||
		time.Until(id.Expires) < 9*time.Minute || id.VerifyAgain.IsZero() {
		t.Errorf("got %+v", id)
	}
	api, err := auth.New(resource, []auth.Verifier{srv}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(token string) int {
		rq := httptest.NewRequestWithContext(t.Context(), http.MethodGet, resource, nil)
		rq.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		api.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, rq)
		return w.Code
	}
	if got := ask(access); got != http.StatusOK {
		t.Errorf("got status %d, want 200", got)
	}
	b.post(b.issuer+"/revoke", url.Values{"token": {refresh}, "client_id": {"app"}})
	for _, token := range []string{access, refresh, "x", ""} {
		if _, err := srv.Verify(t.Context(), token); !errors.Is(err, auth.ErrToken) {
			t.Errorf("%.20s: got %v, want ErrToken", token, err)
		}
	}
	other, _ := b.tokens(b.login("app", "resource", "https://mcp.example/other"))
	if got := ask(other); got != http.StatusUnauthorized {
		t.Errorf("token for another resource: got status %d, want 401", got)
	}
}

// TestFile starts a server again on its file.
func TestFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "auth.json")
	store, err := authserver.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	testStore(t, store)
	key := []byte(strings.Repeat("k", 32))
	again := func() inbox {
		store, err := authserver.OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return newInbox(t, func(o *authserver.Options) { o.Store, o.Key = store, key })
	}
	access, refresh := again().login()
	in := again()
	if !in.active(access) {
		t.Error("after a restart: the access token is not active")
	}
	_, refresh = in.tokens(in.refresh(refresh))
	if got := again().refresh(refresh); got.status != http.StatusOK {
		t.Errorf("after another restart: got status %d %s, want tokens", got.status, got.body)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v, %v, want 0600", info.Mode(), err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("got %v, %v, want one file", files, err)
	}
	// What cannot be written has not happened.
	gone := filepath.Join(dir, "gone")
	if err := os.Mkdir(gone, 0o700); err != nil {
		t.Fatal(err)
	}
	store, err = authserver.OpenFile(filepath.Join(gone, "auth.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	err = store.Update(t.Context(), "a", func([]byte) ([]byte, time.Time, error) { return []byte("1"), time.Time{}, nil })
	if got, _ := store.Load(t.Context(), "a"); err == nil || got != nil {
		t.Errorf("got %v and %q, want an error and nothing kept", err, got)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := authserver.OpenFile(path); err == nil {
		t.Error("a broken file: got no error")
	}
}

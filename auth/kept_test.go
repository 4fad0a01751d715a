package auth_test

import (
	"bytes"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/auth"
	"github.com/ferrymcp/ferry/mcptest"
)

// TestTokensAreNotKept looks for tokens in all that a resource and its verifiers
// remember, and in what they log.
func TestTokensAreNotKept(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-TOKEN-STORAGE")
	is, d := newIssuer(t, "https://login.example.org"), newDesk(t, login)
	var log bytes.Buffer
	opts := &auth.Options{
		Scopes: []string{"mcp"}, Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	jwts, asked := is.verifier(nil), d.verifier(nil)
	r := newResource(t, opts, jwts, asked)
	tokens := map[string]int{
		is.token(nil):                         200,
		is.token(map[string]any{"scope": ""}): 403,
		is.token(map[string]any{"exp": 1}):    401,
		d.issue("an-opaque-token", nil):       200,
		"another-opaque-token":                401,
	}
	for token, want := range tokens {
		wantStatus(t, r, token, want, token)
	}
	d.down.Store(true)
	const late = "a-token-that-comes-too-late"
	wantStatus(t, r, late, 503, late)
	tokens[late] = 503
	seen := map[uintptr]bool{}
	var kept []string
	for _, v := range []any{r, jwts, asked} {
		kept = texts(reflect.ValueOf(v), seen, kept)
	}
	if len(kept) < 10 || log.Len() == 0 {
		t.Fatalf("found %d texts and a log of %d bytes: the search sees too little", len(kept), log.Len())
	}
	for token := range tokens {
		if all := log.String() + strings.Join(kept, "\n"); strings.Contains(all, token) {
			t.Errorf("the token %s is kept or logged", token)
		}
	}
}

// texts appends all texts and bytes that can be reached from v, except through what
// belongs to the test.
func texts(v reflect.Value, seen map[uintptr]bool, found []string) []string {
	switch v.Kind() {
	case reflect.String:
		return append(found, v.String())
	case reflect.Pointer:
		if v.IsNil() || seen[v.Pointer()] || strings.Contains(v.Type().String(), "auth_test.") {
			return found
		}
		seen[v.Pointer()] = true
		return texts(v.Elem(), seen, found)
	case reflect.Interface:
		if !v.IsNil() {
			return texts(v.Elem(), seen, found)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			found = texts(field, seen, found)
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			text := make([]byte, v.Len())
			for i := range text {
				text[i] = byte(v.Index(i).Uint())
			}
			return append(found, string(text))
		}
		for i := range v.Len() {
			found = texts(v.Index(i), seen, found)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			found = texts(v.MapIndex(key), seen, texts(key, seen, found))
		}
	}
	return found
}

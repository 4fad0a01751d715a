package auth_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ferrymcp/ferry/auth"
)

// A blank takes answers and forgets them.
type blank struct{ header http.Header }

func (b blank) Header() http.Header         { return b.header }
func (b blank) Write(p []byte) (int, error) { return len(p), nil }
func (b blank) WriteHeader(int)             {}

// remembered returns a request with a token that was verified before.
func remembered(t testing.TB) (http.Handler, *http.Request) {
	is := newIssuer(t, login)
	r := newResource(t, scoped(), is.verifier(nil))
	h := r.Handler(http.HandlerFunc(func(_ http.ResponseWriter, rq *http.Request) {
		if auth.Of(rq.Context()) == nil {
			t.Error("nobody called")
		}
	}))
	rq := httptest.NewRequest(http.MethodPost, "/mcp", nil)
	rq.Header.Set("Authorization", "Bearer "+is.token(nil))
	h.ServeHTTP(httptest.NewRecorder(), rq)
	return h, rq
}

// TestAllocations allows for a context and a request that has it.
func TestAllocations(t *testing.T) {
	h, rq := remembered(t)
	w := blank{http.Header{}}
	if got := testing.AllocsPerRun(200, func() { h.ServeHTTP(w, rq) }); got > 2 && !raceEnabled {
		t.Errorf("a token that was verified before costs %v allocations, want at most 2", got)
	}
}

func BenchmarkRemembered(b *testing.B) {
	h, rq := remembered(b)
	w := blank{http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(w, rq)
	}
}

func BenchmarkVerify(b *testing.B) {
	is := newIssuer(b, login)
	v := is.verifier(nil)
	token := is.token(nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := v.Verify(b.Context(), token); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkProof(b *testing.B) {
	is := newIssuer(b, login)
	r := newResource(b, nil, is.verifier(nil))
	key := newKey(b)
	token := is.bound(key)
	h, w := r.Handler(inside), blank{http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		rq := httptest.NewRequest(http.MethodGet, "/mcp", nil)
		rq.Header.Set("Authorization", "DPoP "+token)
		rq.Header.Set("DPoP", proof(b, key, token, nil)[1][len("DPoP: "):])
		b.StartTimer()
		h.ServeHTTP(w, rq)
	}
}

package auth_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/auth"
)

// FuzzAuthorization lets nobody in whose header is not exactly that of the one who
// has a token, whatever is in the query.
func FuzzAuthorization(f *testing.F) {
	is := newIssuer(f, login)
	f.Add("", "")
	f.Add("Bearer ", "access_token=x")
	f.Add("bearer  TOKEN", "a=b&access%5ftoken=x")
	f.Add("DPoP TOKEN", "%")
	f.Add("Basic TOKEN", ";")
	f.Add("Bearer TOKEN, Bearer TOKEN", "&&=&access_token")
	f.Add("Bearer\tTOKEN", "")
	f.Fuzz(func(t *testing.T, header, query string) {
		is.t = t
		r := newResource(t, &auth.Options{MaxToken: 1 << 10}, is.verifier(nil))
		token := is.token(nil)
		header = strings.ReplaceAll(header, "TOKEN", token)
		rq := httptest.NewRequest(http.MethodGet, "/mcp", nil)
		rq.URL.RawQuery = query
		rq.Header["Authorization"] = []string{header}
		w := httptest.NewRecorder()
		r.Handler(inside).ServeHTTP(w, rq)
		scheme, rest, _ := strings.Cut(header, " ")
		values, _ := url.ParseQuery(query)
		right := strings.EqualFold(scheme, "bearer") && strings.TrimLeft(rest, " ") == token
		switch w.Code {
		case http.StatusOK:
			if !right || values.Has("access_token") {
				t.Errorf("%q with the query %q was let in", header, query)
			}
		case http.StatusUnauthorized, http.StatusBadRequest:
			if right && !strings.Contains(query, "%") && !values.Has("access_token") && !strings.Contains(query, "access_token") {
				t.Errorf("%q with the query %q was refused: %s", header, query, w.Body)
			}
			if strings.Contains(w.Body.String(), secretBody) {
				t.Errorf("the refusal of %q says too much", header)
			}
		default:
			t.Errorf("%q with the query %q: status %d", header, query, w.Code)
		}
	})
}

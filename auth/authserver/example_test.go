package authserver_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/ferrymcp/ferry/auth/authserver"
)

// An authorization server for one person, beside the MCP endpoint that it is for.
func Example() {
	as, err := authserver.New(authserver.Options{
		Issuer:     "http://localhost:8080",
		Resources:  []string{"http://localhost:8080/mcp"},
		Passphrase: "correct horse battery staple",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/", as)
	// mux.Handle("/mcp", …) and then http.ListenAndServe("localhost:8080", mux)

	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost:8080/.well-known/oauth-authorization-server", nil))
	fmt.Println(w.Code, w.Header().Get("Content-Type"))
	// Output: 200 application/json
}

package auth

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// credentials finds the access token of a request and the scheme it is sent with.
// Both are empty when there is none. Otherwise wrong may say why the request is
// malformed: a token is sent in one way, which is the Authorization header, once
// (OAuth 2.1, section 5.1; "Token Requirements").
func credentials(rq *http.Request, limit int) (scheme, token, wrong string) {
	if inQuery(rq.URL.RawQuery) {
		return "", "", "the access token must not be in the URL"
	}
	values := rq.Header["Authorization"]
	switch len(values) {
	case 0:
		return "", "", ""
	case 1:
	default:
		return "", "", "there are several Authorization headers"
	}
	given, token, _ := strings.Cut(values[0], " ")
	switch {
	case strings.EqualFold(given, oauthwire.SchemeBearer):
		scheme = oauthwire.SchemeBearer
	case strings.EqualFold(given, oauthwire.SchemeDPoP):
		scheme = oauthwire.SchemeDPoP
	default:
		return "", "", "" // something else, which is no token
	}
	token = strings.TrimLeft(token, " ")
	switch {
	case len(token) > limit:
		return "", "", "the access token is too long"
	case !oauthwire.ValidToken68(token):
		return "", "", "the Authorization header has no access token in it"
	}
	return scheme, token, ""
}

// inQuery reports whether a query has a token in it.
func inQuery(query string) bool {
	const name = "access_token"
	if !strings.Contains(query, name) && !strings.Contains(query, "%") {
		return false
	}
	for query != "" {
		var part string
		part, query, _ = strings.Cut(query, "&")
		key, _, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(key); err == nil && plain == name {
			return true
		}
	}
	return false
}

package oauthwire

import (
	"slices"
	"strings"
)

// MaxScopes is how many scopes of a peer are looked at: more are for nobody to decide
// about, but would take long to compare.
const MaxScopes = 1000

// Scopes returns the scopes in a scope parameter, each once, in their order, and at most
// MaxScopes. What is not a scope is left out (OAuth 2.1, section 1.4.1).
func Scopes(parameter string) []string {
	var out []string
	for scope := range strings.FieldsSeq(parameter) {
		if len(out) == MaxScopes {
			break
		}
		if ValidScope(scope) && !slices.Contains(out, scope) {
			out = append(out, scope)
		}
	}
	return out
}

// JoinScopes returns the scope parameter for some scopes; what is not one is left out.
func JoinScopes(scopes []string) string {
	return strings.Join(Scopes(strings.Join(scopes, " ")), " ")
}

// UnionScopes returns the scopes of all lists, each once, in their order.
func UnionScopes(lists ...[]string) []string {
	var out []string
	for _, list := range lists {
		for _, scope := range list {
			if !slices.Contains(out, scope) {
				out = append(out, scope)
			}
		}
	}
	return out
}

// ValidScope reports whether s is one scope: printable ASCII without space, quote
// and backslash.
func ValidScope(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return s != ""
}

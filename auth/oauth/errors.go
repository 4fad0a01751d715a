package oauth

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/ferrymcp/ferry/internal/oauthwire"
)

var (
	// ErrLoginRequired is in the errors of requests that need a user to log in, which
	// Options.Unattended does not allow.
	ErrLoginRequired = errors.New("a user has to log in")
	// ErrClosed is in the errors of a client that is closed.
	ErrClosed = errors.New("oauth client is closed")
)

// An Error is why there is no token for a request. It is found with errors.As in the
// errors of the http.Client. Its text has no secrets.
type Error struct {
	// Step is what was being done: "discover", "register", "authorize", "exchange",
	// "refresh", "assert", "store" or "send".
	Step string
	// Server is the issuer or the URL that it was about.
	Server string
	// Code is the OAuth error code of the server's answer, if it had one.
	Code string
	// Status is the HTTP status of that answer, 0 if there was none.
	Status int
	// Temporary tells that trying again later may help. Credentials are kept.
	Temporary bool
	// RetryAfter is how long the server asks to wait; 0 if it does not.
	RetryAfter time.Duration
	// Scopes are those that the user has to agree to, in addition to what they did, when
	// Err is ErrLoginRequired and the server has named some.
	Scopes []string
	// Err is the reason.
	Err error
}

// Error implements the error interface.
func (e *Error) Error() string {
	return fmt.Sprintf("authorization: %s at %s: %v", e.Step, oauthwire.Printable(e.Server, 200), e.Err)
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// HTTPStatus returns what the MCP server's answer comes to for those who do not know
// this package: 401, or 503 if the error is temporary.
func (e *Error) HTTPStatus() int {
	if e.Temporary {
		return http.StatusServiceUnavailable
	}
	return http.StatusUnauthorized
}

// fail returns an Error that will not go away by itself.
func fail(step, server string, err error) *Error { return &Error{Step: step, Server: server, Err: err} }

// temporary reports whether trying again may help.
func temporary(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Temporary
}

// codeOf returns the OAuth error code in err, if there is one.
func codeOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

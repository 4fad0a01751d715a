package httpclient

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/transport"
)

// ErrSessionLost means that the server does not know the session any more. The
// connection is over; a new one begins with an initialize request. It is the
// error that package transport names.
var ErrSessionLost = transport.ErrSessionLost

// An UnreachableError means that a request got no answer at all: the server
// cannot be reached, or the connection broke before it answered.
type UnreachableError struct {
	URL string // without query and password
	Err error
}

// Error implements the error interface.
func (e *UnreachableError) Error() string { return fmt.Sprintf("reach %s: %v", e.URL, e.Err) }

// Unwrap returns the reason.
func (e *UnreachableError) Unwrap() error { return e.Err }

// A StatusError is an HTTP answer that carries no answer to the message sent:
// mostly an error status, or a success with a body that is not MCP.
// errors.Is(err, errors.ErrUnsupported) tells that the endpoint does not have
// the HTTP method (405).
type StatusError struct {
	Status      int
	ContentType string
	// Body is the beginning of the body, made printable.
	Body string
	// RPC is the JSON-RPC error in the body, if it is one.
	RPC *jsonrpc.Error
	// Challenges holds the values of WWW-Authenticate.
	Challenges []string
	// RetryAfter is how long the server asks to wait; zero if it does not.
	RetryAfter time.Duration
}

// Error implements the error interface.
func (e *StatusError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "server answered %d", e.Status)
	if text := http.StatusText(e.Status); text != "" {
		b.WriteString(" " + text)
	}
	if e.Status < 300 {
		fmt.Fprintf(&b, " with a body of type %q, which is not an MCP answer", e.ContentType)
	}
	switch {
	case e.RPC != nil:
		fmt.Fprintf(&b, ": %v", e.RPC)
	case e.Body != "":
		fmt.Fprintf(&b, ": %s", e.Body)
	}
	return b.String()
}

// Unwrap returns the JSON-RPC error in the body, if it is one.
func (e *StatusError) Unwrap() error {
	if e.RPC == nil {
		return nil
	}
	return e.RPC
}

// Is reports whether target is errors.ErrUnsupported and the status is 405.
func (e *StatusError) Is(target error) bool {
	return target == errors.ErrUnsupported && e.Status == http.StatusMethodNotAllowed
}

// HTTPStatus returns Status, for those who do not know this package.
func (e *StatusError) HTTPStatus() int { return e.Status }

// IsAuth reports whether the server asks for authorization, or for more of it.
func (e *StatusError) IsAuth() bool {
	return e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden
}

// A NoResponseError means that the server's answer to a request ended without
// the response, and could not be resumed. Whether the request was carried out is
// not known.
type NoResponseError struct {
	// Err says why the answer ended: io.EOF when the server ended it.
	Err error
	// Resuming says why the stream could not be resumed, such as a *StatusError;
	// nil if there is no way to. It is not among the errors that are unwrapped:
	// the request itself was not refused.
	Resuming error
	// LastEventID is the id of the last event; empty if the server gave none.
	LastEventID string
	// Retry is how long the server asked to wait before resuming.
	Retry time.Duration
}

// Error implements the error interface.
func (e *NoResponseError) Error() string {
	text := "answer ended without the response"
	if !errors.Is(e.Err, io.EOF) {
		text += fmt.Sprintf(": %v", e.Err)
	}
	if e.Resuming != nil {
		text += fmt.Sprintf("; it could not be resumed: %v", e.Resuming)
	}
	return text
}

// Unwrap returns the reason.
func (e *NoResponseError) Unwrap() error { return e.Err }

// A RedirectError means that a redirect was not followed, because it leaves the
// origin, would lose the message, or is one too many.
type RedirectError struct {
	Status int
	To     string // without query and password
	Reason string
}

// Error implements the error interface.
func (e *RedirectError) Error() string {
	return fmt.Sprintf("redirect %d to %s not followed: %s", e.Status, e.To, e.Reason)
}

const maxRedirects = 5

// checkRedirect follows only what is safe for a message with credentials in
// its headers: the same origin, and a status that repeats method and body.
func checkRedirect(r *http.Request, via []*http.Request) error {
	refuse := func(reason string) error {
		status := 0
		if r.Response != nil {
			status = r.Response.StatusCode
		}
		return &RedirectError{Status: status, To: redact(r.URL), Reason: reason}
	}
	from := via[0]
	switch {
	case r.URL.Scheme != from.URL.Scheme || r.URL.Host != from.URL.Host:
		return refuse("it leads to another origin")
	case r.Method != from.Method:
		return refuse("it would not repeat the message")
	case len(via) > maxRedirects:
		return refuse("too many redirects")
	}
	return nil
}

// redact returns u as it may be shown: queries and passwords can be secrets.
func redact(u *url.URL) string {
	shown := *u
	shown.RawQuery, shown.ForceQuery, shown.Fragment, shown.RawFragment = "", false, "", ""
	return shown.Redacted()
}

// shownBody is how much of a body a StatusError keeps.
const shownBody = 1024

func newStatusError(res *http.Response, body []byte, rpc *jsonrpc.Error) *StatusError {
	e := &StatusError{
		Status:      res.StatusCode,
		ContentType: res.Header.Get("Content-Type"),
		Body:        printable(body),
		RPC:         rpc,
		Challenges:  res.Header.Values("WWW-Authenticate"),
	}
	after := res.Header.Get("Retry-After")
	if seconds, err := strconv.Atoi(after); err == nil && seconds > 0 && seconds < 1<<31 {
		e.RetryAfter = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(after); err == nil {
		e.RetryAfter = max(0, time.Until(at))
	}
	return e
}

// printable returns the beginning of body in one line without control
// characters, so that a server cannot steer a terminal.
func printable(body []byte) string {
	cut := len(body) > shownBody
	if cut {
		body = body[:shownBody]
	}
	text := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, string(body))
	text = strings.Join(strings.Fields(text), " ")
	if cut {
		text += " …"
	}
	return text
}

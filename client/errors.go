package client

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// ErrClosed is matched by the errors of calls on a session that was closed
// with Close.
var ErrClosed = errors.New("session is closed")

// IsRemote reports whether err is something the server said: an error response
// of its own, as opposed to a failure to reach it or to understand it.
func IsRemote(err error) bool {
	if _, ours := errors.AsType[*InputError](err); ours {
		return false
	}
	_, ok := errors.AsType[*jsonrpc.Error](err)
	return ok
}

// An UnreachableError tells that a message did not get to the server, or that
// the connection was lost before the answer came.
type UnreachableError struct {
	Method string // what was asked; empty for the connection as a whole
	Err    error  // the transport's reason
}

// Error implements the error interface.
func (e *UnreachableError) Error() string {
	if e.Method == "" {
		return fmt.Sprintf("server not reached: %v", e.Err)
	}
	return fmt.Sprintf("%s: server not reached: %v", e.Method, e.Err)
}

// Unwrap returns the transport's reason.
func (e *UnreachableError) Unwrap() error { return e.Err }

// A ProtocolError tells that the server's answer breaks the protocol.
type ProtocolError struct {
	Method  string // what was asked
	Problem string // what is wrong with the answer
}

// Error implements the error interface.
func (e *ProtocolError) Error() string {
	return fmt.Sprintf("%s: malformed answer: %s", e.Method, e.Problem)
}

func malformed(method, format string, args ...any) *ProtocolError {
	return &ProtocolError{Method: method, Problem: fmt.Sprintf(format, args...)}
}

// A TimeoutError tells that the server did not answer in time.
type TimeoutError struct {
	Method string        // what was asked; "connect" for the time to connect
	Limit  time.Duration // the limit that was reached
	// Max tells that it was the hard maximum, which progress does not put off.
	Max bool
}

// Error implements the error interface.
func (e *TimeoutError) Error() string {
	if e.Max {
		return fmt.Sprintf("%s: no answer within the maximum of %v", e.Method, e.Limit)
	}
	return fmt.Sprintf("%s: no answer within %v", e.Method, e.Limit)
}

// Timeout reports true, as the errors of package net do.
func (e *TimeoutError) Timeout() bool { return true }

// A VersionError tells that client and server have no revision in common, or
// not the one that was asked for.
type VersionError struct {
	Requested string   // the revision the client asked for
	Supported []string // what the server said it speaks
	// Err is the server's error response, nil when it answered otherwise.
	Err *jsonrpc.Error
}

// Error implements the error interface.
func (e *VersionError) Error() string {
	if len(e.Supported) == 0 {
		return fmt.Sprintf("server does not speak revision %s", e.Requested)
	}
	return fmt.Sprintf("server does not speak revision %s, only %s", e.Requested, strings.Join(e.Supported, ", "))
}

// Unwrap returns the server's error response, if there was one.
func (e *VersionError) Unwrap() error {
	if e.Err == nil {
		return nil
	}
	return e.Err
}

// An UnsupportedError tells that the session's revision does not have a method.
type UnsupportedError struct {
	Method   string
	Revision string
}

// Error implements the error interface.
func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s: revision %s does not have it", e.Method, e.Revision)
}

// A CancelError as the cause of a call's context tells the server why the call
// was cancelled. So does any cause with its method CancelReason; other causes are
// not told.
type CancelError struct {
	Reason string // for the server's log
}

// Error implements the error interface.
func (e *CancelError) Error() string { return "cancelled: " + e.Reason }

// CancelReason returns what the server is told.
func (e *CancelError) CancelReason() string { return e.Reason }

// A NotOfferedError tells that a server tells of none of the changes that a
// subscription asked for.
type NotOfferedError struct {
	Asked mcp.SubscriptionFilter
	// Err is the server's refusal, nil when it did not come to that.
	Err error
}

// Error implements the error interface.
func (e *NotOfferedError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("the server does not tell of these changes: %v", e.Err)
	}
	return "the server does not tell of these changes"
}

// Unwrap returns the server's refusal, if there was one.
func (e *NotOfferedError) Unwrap() error { return e.Err }

// An InputRequiredError tells that the server wants something before it
// answers, and that there is no handler for all of it, or CallOptions.Relay is
// set. The call is to be repeated with the answers and the state in it.
type InputRequiredError struct {
	Method string
	Result *mcp.InputRequiredResult
}

// Error implements the error interface.
func (e *InputRequiredError) Error() string {
	return fmt.Sprintf("%s: the server needs input first", e.Method)
}

// An InputError tells that the server wanted something before it answers, and
// did not get it: the handler failed, what was asked is not declared, or there
// was no end to it. Such a server waits for nothing.
type InputError struct {
	Method string // what was called
	Key    string // the server's name for the question; empty when it is not about one
	// Err is the handler's error. For a question that was refused before it came
	// to a handler it is a *jsonrpc.Error.
	Err error
}

// Error implements the error interface.
func (e *InputError) Error() string {
	if e.Key == "" {
		return fmt.Sprintf("%s: answer the server: %v", e.Method, e.Err)
	}
	return fmt.Sprintf("%s: answer %q of the server: %v", e.Method, e.Key, e.Err)
}

// Unwrap returns the reason.
func (e *InputError) Unwrap() error { return e.Err }

// A SessionRenewedError tells that the server had forgotten the session. There
// is a new one, but the call was not repeated because it may change something, or
// asked for the page of a list at a cursor: cursors are of one session, so that the
// list has to be read from its beginning.
type SessionRenewedError struct {
	Method string
	Err    error // how the loss was noticed
}

// Error implements the error interface.
func (e *SessionRenewedError) Error() string {
	return fmt.Sprintf("%s: the server had lost the session; it was renewed, the call was not repeated", e.Method)
}

// Unwrap returns how the loss was noticed.
func (e *SessionRenewedError) Unwrap() error { return e.Err }

// A ConnectError tells what Connect tried. The last attempt's error is the one
// it unwraps to.
type ConnectError struct {
	Tried []Attempt
}

// An Attempt is one step of Connect that did not work out.
type Attempt struct {
	Step string // such as a method
	Err  error
}

// Error implements the error interface.
func (e *ConnectError) Error() string {
	var text strings.Builder
	text.WriteString("connect")
	for i, a := range e.Tried {
		sep := "; then "
		if i == 0 {
			sep = ": "
		}
		text.WriteString(sep)
		// Errors that name their method already are not given it twice.
		if msg := a.Err.Error(); strings.HasPrefix(msg, a.Step+":") {
			text.WriteString(msg)
		} else {
			text.WriteString(a.Step + ": " + msg)
		}
	}
	return text.String()
}

// Unwrap returns the error of the last attempt.
func (e *ConnectError) Unwrap() error {
	if len(e.Tried) == 0 {
		return nil
	}
	return e.Tried[len(e.Tried)-1].Err
}

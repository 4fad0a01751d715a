package transport

import (
	"errors"
	"fmt"
)

// ErrClosed is what Read, Write, RoundTrip and Send return after this side
// has closed the connection. Every *ClosedError is an ErrClosed too.
var ErrClosed = errors.New("connection closed")

// A ClosedError tells that a connection was lost, and why. errors.Is(err,
// io.EOF) tells that the peer ended it in an orderly way.
type ClosedError struct {
	Err error // the reason
}

// Error implements the error interface.
func (e *ClosedError) Error() string { return fmt.Sprintf("connection lost: %v", e.Err) }

// Unwrap returns the reason.
func (e *ClosedError) Unwrap() error { return e.Err }

// Is reports whether target is ErrClosed.
func (e *ClosedError) Is(target error) bool { return target == ErrClosed }

// A FrameTooLargeError tells that a frame was over the limit and was skipped.
type FrameTooLargeError struct {
	Limit int // in bytes
}

// Error implements the error interface.
func (e *FrameTooLargeError) Error() string {
	return fmt.Sprintf("frame is larger than %d bytes", e.Limit)
}

// A MalformedError tells that the response to a request came and cannot be
// read. It wraps nothing, so that it does not pass for an error the peer sent.
type MalformedError struct {
	Problem string
}

// Error implements the error interface.
func (e *MalformedError) Error() string { return "malformed response: " + e.Problem }

// lost wraps the reason why a connection ended, once.
func lost(err error) error {
	if errors.Is(err, ErrClosed) {
		return err
	}
	return &ClosedError{Err: err}
}

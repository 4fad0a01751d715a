package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/ferrymcp/ferry/client"
)

// An UpstreamError tells that a server could not do what was asked, other than
// by saying so itself: it is not reached, too slow, or makes no sense. Its text
// is written to be shown.
type UpstreamError struct {
	Upstream string
	Err      error // may be nil while nothing is known but that it is not connected yet
}

// Error implements the error interface.
func (e *UpstreamError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("server %q is not reachable: it is still connecting", e.Upstream)
	}
	if lost, ok := errors.AsType[*client.UnreachableError](e.Err); ok {
		return fmt.Sprintf("server %q is not reachable: %v", e.Upstream, lost.Err)
	}
	if late, ok := errors.AsType[*client.TimeoutError](e.Err); ok && late.Method != "connect" { //nolint:usestdlibvars // not the verb of HTTP
		return fmt.Sprintf("server %q: %v", e.Upstream, late)
	}
	_, wrong := errors.AsType[*client.ProtocolError](e.Err)
	_, renewed := errors.AsType[*client.SessionRenewedError](e.Err)
	if wrong || renewed {
		return fmt.Sprintf("server %q: %v", e.Upstream, e.Err)
	}
	return fmt.Sprintf("server %q is not reachable: %v", e.Upstream, e.Err)
}

// Unwrap returns the reason.
func (e *UpstreamError) Unwrap() error { return e.Err }

// Temporary reports that trying again later may help.
func (e *UpstreamError) Temporary() bool {
	_, wrong := errors.AsType[*client.ProtocolError](e.Err)
	return !wrong
}

// A NotFoundError tells that no server has the tool or prompt.
type NotFoundError struct {
	What string // "tool" or "prompt"
	Name string
}

// Error implements the error interface.
func (e *NotFoundError) Error() string { return fmt.Sprintf("unknown %s %q", e.What, e.Name) }

// failure makes the error of a call that failed. What the server said, and the
// end of the caller's context, are passed on as they are.
func (u *upstream) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	if _, ok := errors.AsType[*client.ConnectError](err); !ok && client.IsRemote(err) {
		return err
	}
	if _, ok := errors.AsType[*client.UnreachableError](err); ok {
		u.doubt()
	}
	if _, ok := errors.AsType[*client.SessionRenewedError](err); ok {
		u.mark(kindAll, true) // the server has started anew and may offer something else
	}
	return &UpstreamError{Upstream: u.conf.Name, Err: err}
}

// Package state says what servers keep between requests, so that it can be kept
// elsewhere: in the memory of the process (package memory), which is the
// default, or in a store that several instances share. Package statetest holds
// the tests that every implementation passes.
//
// It holds interfaces and their errors, and nothing that does anything.
package state

import (
	"context"
	"errors"
)

// A Log keeps what was sent on the event streams of sessions for a while, so
// that a client that has lost its connection can have the rest ("Resumability
// and Redelivery" in the transports of the revisions with sessions). A session
// has any number of streams. Names of sessions and streams are visible ASCII.
//
// A Log decides how much it keeps and for how long; what it drops it drops
// oldest first. Its methods may be called concurrently.
type Log interface {
	// Append adds an event to the end of a stream and returns its sequence
	// number. The numbers of a session begin at 1 or later and only grow, over
	// all of its streams. Data may be empty. It is not kept by reference.
	Append(ctx context.Context, session, stream string, data []byte) (seq uint64, err error)
	// After returns the events of one stream that came after the one with the
	// given number, oldest first and at most limit of them, which is at least
	// 1; none when there are none. Number 0 stands for the beginning. The error
	// is ErrGone when some of the events after it are not kept any more, when
	// the Log cannot tell, and when the stream has no event with that number.
	// The data must not be changed.
	After(ctx context.Context, session, stream string, seq uint64, limit int) ([]Event, error)
	// Forget drops all that is kept of a session. Nobody appends to it any more.
	Forget(ctx context.Context, session string) error
}

// An Event is one event of a stream.
type Event struct {
	Seq  uint64
	Data []byte
}

// ErrGone is returned by [Log.After] when events are missing.
var ErrGone = errors.New("events of the stream are not kept any more")

package client

import (
	"errors"
	"time"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// noticing is how long a server may take to notice that a call was given up.
// Meanwhile its questions may still be about that call, where the carrier does
// not tell, and are not taken for questions about another.
const noticing = 10 * time.Second

// gaveUp notes that a call is no longer waited for, before it has ended.
func (v *served) gaveUp(call jsonrpc.ID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.calls[call] != nil {
		v.clear = time.Now().Add(noticing)
	}
}

// awaitNotice finds out when the server has noticed that calls were given up: a
// ping that is sent after the cancellation is answered after everything that the
// server asked before it read the cancellation. A server that answers none has
// noticed after a while.
func (s *Session) awaitNotice(l *link) {
	_, tells := l.rt.(transport.Listener)
	if tells || !l.speaks().revision().Defines(mcp.MethodPing) || !l.served.beginNotice() {
		return
	}
	started := s.tasks.start(func() {
		for until := l.served.unclear(); !until.IsZero(); until = l.served.unclear() {
			_, _, err := s.call(l.ctx, mcp.MethodPing, nil, &CallOptions{Timeout: noticing})
			if _, answered := errors.AsType[*jsonrpc.Error](err); err != nil && !answered {
				l.served.endNotice()
				return
			}
			l.served.noticed(until)
		}
	})
	if !started {
		l.served.endNotice()
	}
}

// beginNotice reports whether nobody is asking the server already.
func (v *served) beginNotice() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.asking || !time.Now().Before(v.clear) {
		return false
	}
	v.asking = true
	return true
}

func (v *served) endNotice() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asking = false
}

// unclear returns until when it is not clear what the server asks about. When it
// is, it returns zero and has ended the asking, so that no call that is given up
// now goes without.
func (v *served) unclear() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !time.Now().Before(v.clear) {
		v.asking = false
		return time.Time{}
	}
	return v.clear
}

// noticed ends the time, unless it has been extended meanwhile.
func (v *served) noticed(until time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.clear.Equal(until) {
		v.clear = time.Time{}
	}
}

package httpclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/transport"
)

// What bounds how a stream is resumed.
const (
	defaultRetry = time.Second            // the wait when the server does not say
	maxRetry     = 10 * time.Minute       // the longest wait a server can ask for
	minStanding  = 100 * time.Millisecond // the shortest, of a stream that is opened again for ever
	maxBackoff   = 30 * time.Second       // the longest wait that we add by ourselves
	// maxFruitless is how many connections in a row may bring nothing, and
	// maxPolls how many may where the server has said when to come back.
	maxFruitless = 16
	maxPolls     = 1000
	// maxEventID is the longest id that servers are given back: they do not take
	// headers of any length.
	maxEventID = 4 << 10
)

// A feed is one event stream over as many connections as it takes: when one ends
// before the stream does, the next goes on after the last event that came
// ("Resumability and Redelivery"). It needs ids of the server for that.
type feed struct {
	pending
	revision  string
	lastID    string
	retry     time.Duration // what the server has asked for last; 0 when it did not
	fruitless int           // connections since the last new id
	failures  int           // attempts to connect since the last that succeeded
}

// read reads the events of one connection. It returns nil when the response has
// come, else why the connection ended.
func (f *feed) read(body io.Reader) error {
	r := f.x.readers.Get().(*httpwire.Reader)
	defer f.x.release(r)
	r.Reset(body)
	began := time.Now()
	for !f.answered {
		err := f.event(r)
		f.note(r)
		if err == nil {
			continue
		}
		if time.Since(began) > maxBackoff {
			f.fruitless = 0
		}
		return err
	}
	return nil
}

// note remembers where the stream stands. An id may come without an event.
func (f *feed) note(r *httpwire.Reader) {
	if id := r.LastID(); id != "" && id != f.lastID {
		f.lastID, f.fruitless = id, 0
	}
	if retry := r.Retry(); retry > 0 {
		f.retry = min(retry, maxRetry)
	}
}

// resumable reports whether the stream can go on after a connection that ended
// in this way.
func (f *feed) resumable(ended error) bool {
	if f.lastID == "" || !sendable(f.lastID) || errors.Is(ended, httpwire.ErrEventTooLarge) {
		return false
	}
	rev, known := revision.Parse(f.revision)
	return !known || rev.Has(revision.ResumableStreams)
}

// sendable reports whether an id can go back to the server in a header.
func sendable(id string) bool {
	return len(id) <= maxEventID && !strings.ContainsFunc(id, unicode.IsControl) && utf8.ValidString(id)
}

// resume opens the next connection, after the time that the server has asked
// for. The error is that of the context, or a *NoResponseError.
func (f *feed) resume(ended error) (*http.Response, error) {
	if !f.resumable(ended) {
		return nil, f.broken(ended, nil)
	}
	f.fruitless++
	for {
		if problem := f.exhausted(); problem != nil {
			return nil, f.broken(ended, problem)
		}
		if err := f.x.sleep(f.wait()); err != nil {
			return nil, err
		}
		res, err := f.x.get(f.revision, f.lastID)
		if err == nil && res.StatusCode/100 == 2 && httpwire.IsSSE(res.Header.Get("Content-Type")) {
			f.failures = 0
			return res, nil
		}
		if f.x.ctx.Err() != nil {
			return nil, context.Cause(f.x.ctx)
		}
		if f.failures++; !temporary(res, err) {
			return nil, f.broken(ended, f.refused(res, err))
		}
		if err == nil {
			f.x.drain(res)
		}
	}
}

// exhausted says why there is no point in going on, if there is none.
func (f *feed) exhausted() error {
	limit := maxFruitless
	switch {
	case f.id.IsZero(): // a standing stream may well be quiet
		limit = f.fruitless
	case f.retry > 0:
		limit = maxPolls
	}
	if f.failures >= maxFruitless || f.fruitless > limit {
		return fmt.Errorf("gave up after %d attempts", max(f.failures, f.fruitless))
	}
	return nil
}

// wait returns how long to wait before the next connection: as long as the
// server says, and longer each time when it is in trouble or says nothing.
func (f *feed) wait() time.Duration {
	wait, trouble := f.retry, f.failures
	if f.id.IsZero() && wait > 0 {
		wait = max(wait, minStanding)
	}
	if wait == 0 {
		wait, trouble = defaultRetry, max(trouble, f.fruitless-1)
	}
	for range trouble {
		if wait < maxBackoff {
			wait = min(2*wait, maxBackoff)
		}
	}
	return wait
}

// sleep waits, but not for longer than there is somebody to wait for.
func (x *exchange) sleep(d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-x.ctx.Done():
		return context.Cause(x.ctx)
	}
}

// temporary reports whether an attempt that failed is worth another one.
func temporary(res *http.Response, err error) bool {
	if err != nil {
		_, unreachable := errors.AsType[*UnreachableError](err)
		return unreachable
	}
	return res.StatusCode >= 500 && res.StatusCode != http.StatusNotImplemented || res.StatusCode == http.StatusTooManyRequests
}

// refused returns why the server does not go on with the stream. That it has
// lost the session is for the next message to find out, unless there was none:
// a request that was sent may have been carried out and must not be sent again.
func (f *feed) refused(res *http.Response, err error) error {
	switch {
	case err != nil:
		return err
	case f.id.IsZero():
		if res.StatusCode/100 != 2 {
			_, err = f.x.refusal(res, jsonrpc.ID{})
			return err
		}
	}
	defer f.x.drain(res)
	response, body := f.x.refusalBody(res, jsonrpc.ID{})
	return newStatusError(res, body, response.Error)
}

// broken returns the error of a stream that ended before its time.
func (f *feed) broken(ended, problem error) error {
	if errors.Is(ended, httpwire.ErrEventTooLarge) {
		return &transport.FrameTooLargeError{Limit: f.x.opts.maxMessage()}
	}
	return &NoResponseError{Err: ended, Resuming: problem, LastEventID: f.lastID, Retry: f.retry}
}

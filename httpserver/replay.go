package httpserver

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/state"
)

// replayPiece is how many events are read from the log at a time.
const replayPiece = 16

// A replay is what the client of a session can ask for again: the events of its
// streams. Nil stands for a session that has none.
type replay struct {
	log     state.Log
	logger  *slog.Logger
	ctx     context.Context // of the session, which ends by close
	session string
	polled  bool // streams open with an id, and may be let go of
	retry   time.Duration
	tag     string // begins the names of the streams: those of other sessions are not taken for them

	// mu is held while the log is called: it orders the events, and nothing is
	// added after close.
	mu      sync.Mutex
	opened  uint64            // streams so far
	running map[string]*track // the streams of requests that have no response yet
	used    bool              // the log has something to forget
	over    bool
}

// newReplay returns the replay of a session, nil if it has none.
func newReplay(ctx context.Context, s *session, opts *Options) *replay {
	rev, ok := revision.Parse(s.core.Revision())
	if !ok || opts.NoReplay || !rev.Has(revision.ResumableStreams) {
		return nil
	}
	return &replay{
		log:     opts.Log,
		logger:  opts.Logger,
		ctx:     context.WithoutCancel(ctx),
		session: s.id,
		polled:  rev.Has(revision.PolledStreams),
		retry:   opts.RetryAfter,
		tag:     rand.Text()[:8],
	}
}

// A track is one stream with its events, whatever connection it has. It is the
// standing stream of the session, or that of one request.
type track struct {
	*replay
	name string

	// The replay guards these.
	last   uint64  // the number of the last event
	reader *stream // the GET that reads the stream of a request
	away   bool    // the connection of the request itself has been replaced
	ended  bool    // there will be no more events
}

// open begins a stream. It returns nil if r is.
func (r *replay) open() *track {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &track{replay: r, name: r.tag + "-" + strconv.FormatUint(r.opened, 36)}
	r.opened++
	return t
}

// openRequest begins the stream of a request; end ends it.
func (r *replay) openRequest() *track {
	t := r.open()
	if t == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running == nil {
		r.running = map[string]*track{}
	}
	r.running[t.name] = t
	return t
}

// add keeps an event and returns its number, 0 when it cannot be kept. It
// reports whether the stream still has the connection of its request.
func (t *track) add(frame []byte) (seq uint64, mine bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return 0, !t.away
	}
	t.used = true
	seq, err := t.log.Append(t.ctx, t.session, t.name, frame)
	if err != nil {
		t.logger.Error("an event cannot be kept for replay", "error", err)
		return 0, !t.away
	}
	t.last = seq
	t.reader.wake()
	return seq, !t.away
}

// id returns the id of an event, empty when it was not kept.
func (t *track) id(seq uint64) string {
	if seq == 0 {
		return ""
	}
	return eventID(t.name, seq)
}

func eventID(stream string, seq uint64) string {
	var room [32]byte
	return string(strconv.AppendUint(append(append(room[:0], stream...), '-'), seq, 36))
}

// parseEventID returns the stream and number of an event.
func parseEventID(id string) (stream string, seq uint64, ok bool) {
	i := strings.LastIndexByte(id, '-')
	if i < 0 {
		return "", 0, false
	}
	seq, err := strconv.ParseUint(id[i+1:], 36, 64)
	if err != nil || eventID(id[:i], seq) != id {
		return "", 0, false
	}
	return id[:i], seq, true
}

// prime returns the event that a stream opens with, so that it can be resumed
// before there is a message: an id, and how long to wait. It returns false where
// streams do not open with one.
func (t *track) prime(retry time.Duration) (httpwire.Event, bool) {
	if t == nil || !t.polled {
		return httpwire.Event{}, false
	}
	seq, _ := t.add(nil)
	return httpwire.Event{ID: t.id(seq), Retry: retry}, seq != 0
}

// isMine reports whether the stream has the connection of its request.
func (t *track) isMine() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.away
}

// attach makes st the reader of the stream, in place of whatever connection it
// had: a client that resumes has lost that, often before we know of it.
func (t *track) attach(st *stream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dismissLocked(0)
	t.away, t.reader = true, st
}

// detach ends what attach began. It returns how long the client shall wait before
// it comes back, 0 when it was not asked to.
func (t *track) detach(st *stream) (retry time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reader == st {
		t.reader = nil
	}
	return st.retry
}

// dismiss ends the connections of the stream, asking a reader to come back
// after retry.
func (t *track) dismiss(retry time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.away = true
	t.dismissLocked(retry)
}

func (t *track) dismissLocked(retry time.Duration) {
	if t.reader != nil {
		t.reader.retry = retry
		close(t.reader.replaced)
		t.reader = nil
	}
}

// end tells that no more events will come. It may be called again.
func (t *track) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	delete(t.running, t.name)
	t.reader.wake()
}

func (t *track) hasEnded() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended
}

// close drops all events. None are kept from here on.
func (r *replay) close() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	if !r.used {
		return
	}
	if err := r.log.Forget(r.ctx, r.session); err != nil {
		r.logger.Error("the events of a session cannot be dropped", "error", err)
	}
}

// A rest is what is left of a stream after an event that the client has. It is
// read in pieces, as quickly as the client takes it: nothing waits for that, and
// what is dropped from the log meanwhile is missing.
type rest struct {
	replay *replay
	track  *track // nil when the request of the stream is over
	name   string
	seq    uint64        // the last event that was taken
	ahead  []state.Event // read and not taken
}

var errUnknownEvent = errors.New("no event of this session")

// after finds what is left of a stream after the event with the given id. The
// error is errUnknownEvent, state.ErrGone or that of the log.
func (r *replay) after(id string, standing *track) (*rest, error) {
	name, seq, ok := parseEventID(id)
	if r == nil || !ok || !strings.HasPrefix(name, r.tag+"-") {
		return nil, errUnknownEvent
	}
	p := &rest{replay: r, name: name, seq: seq}
	if name == standing.name {
		p.track = standing
	} else {
		r.mu.Lock()
		p.track = r.running[name]
		r.mu.Unlock()
	}
	return p, p.read()
}

// read reads the next piece, if the last one was taken.
func (p *rest) read() error {
	if len(p.ahead) > 0 {
		return nil
	}
	r := p.replay
	r.mu.Lock()
	upToDate := p.track != nil && p.seq == p.track.last
	r.mu.Unlock()
	if upToDate {
		return nil // the log need not have it any more
	}
	var err error
	p.ahead, err = r.log.After(r.ctx, r.session, p.name, p.seq, replayPiece)
	return err
}

// next takes the next event; false when there is none now.
func (p *rest) next() (state.Event, bool, error) {
	if err := p.read(); err != nil || len(p.ahead) == 0 {
		return state.Event{}, false, err
	}
	e := p.ahead[0]
	p.ahead = p.ahead[1:]
	p.seq = e.Seq
	return e, true, nil
}

// Package memory keeps state in the memory of the process. What it keeps is
// bounded, and lost when the process ends.
package memory

import (
	"bytes"
	"cmp"
	"container/list"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/ferrymcp/ferry/state"
)

// LogOptions bounds a [Log]. The zero value and nil mean the defaults.
type LogOptions struct {
	// Events is the most events kept of one session; 0 means 1,000.
	Events int
	// Bytes is the most data kept of one session; 0 means 4 MiB.
	Bytes int
	// Age is how long an event is kept; 0 means 5 minutes.
	Age time.Duration
	// Total is the most data kept of all sessions together; 0 means 256 MiB.
	Total int
}

// overhead is what an event takes besides its data, roughly, in bytes.
const overhead = 256

// A Log is a state.Log in memory. It owns no goroutine and needs no Close:
// what is too old goes when something is added.
type Log struct {
	opts LogOptions

	mu       sync.Mutex
	sessions map[string]*session
	all      list.List // of *event, oldest first
	bytes    int
}

var _ state.Log = (*Log)(nil)

// A session is what is kept of one session.
type session struct {
	streams map[string]*stream
	events  list.List // of *event, oldest first
	bytes   int
	last    uint64 // the number of the newest event
	dropped uint64 // the highest number of an event that was dropped
}

// A stream is what is kept of one stream; there is none without events.
type stream struct {
	name    string
	events  []*event // oldest first
	dropped uint64   // no event after this one was dropped
}

type event struct {
	state.Event
	at        time.Time
	session   *session
	stream    *stream
	inSession *list.Element
	inAll     *list.Element
}

func (e *event) size() int { return len(e.Data) + overhead }

// NewLog returns an empty Log. Nil options mean the defaults.
func NewLog(opts *LogOptions) *Log {
	l := &Log{sessions: map[string]*session{}}
	if opts != nil {
		l.opts = *opts
	}
	orDefault(&l.opts.Events, 1000)
	orDefault(&l.opts.Bytes, 4<<20)
	orDefault(&l.opts.Age, 5*time.Minute)
	orDefault(&l.opts.Total, 256<<20)
	return l
}

func orDefault[T int | time.Duration](value *T, otherwise T) {
	if *value <= 0 {
		*value = otherwise
	}
}

// Append implements state.Log. It never fails. An event that is larger than the
// bounds counts as dropped at once.
func (l *Log) Append(_ context.Context, sessionName, streamName string, data []byte) (uint64, error) {
	e := &event{at: time.Now()}
	e.Data = bytes.Clone(data)
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.sessions[sessionName]
	if s == nil {
		s = &session{streams: map[string]*stream{}}
		l.sessions[sessionName] = s
	}
	st := s.streams[streamName]
	if st == nil {
		// There may have been events of this stream among those dropped.
		st = &stream{name: streamName, dropped: s.dropped}
		s.streams[streamName] = st
	}
	s.last++
	e.Seq, e.session, e.stream = s.last, s, st
	st.events = append(st.events, e)
	e.inSession, e.inAll = s.events.PushBack(e), l.all.PushBack(e)
	s.bytes += e.size()
	l.bytes += e.size()
	l.trimLocked(s, e.at)
	return e.Seq, nil
}

// trimLocked drops what is over the bounds. s is the session that has grown.
func (l *Log) trimLocked(s *session, now time.Time) {
	for s.events.Len() > l.opts.Events || s.bytes > l.opts.Bytes {
		l.dropLocked(first(&s.events))
	}
	l.expireLocked(now)
	for l.bytes > l.opts.Total {
		l.dropLocked(first(&l.all))
	}
}

// expireLocked drops what is too old.
func (l *Log) expireLocked(now time.Time) {
	for e := first(&l.all); e != nil && now.Sub(e.at) >= l.opts.Age; e = first(&l.all) {
		l.dropLocked(e)
	}
}

func first(l *list.List) *event {
	if front := l.Front(); front != nil {
		e, _ := front.Value.(*event)
		return e
	}
	return nil
}

// dropLocked drops an event, which is the oldest of its session.
func (l *Log) dropLocked(e *event) {
	s, st := e.session, e.stream
	l.all.Remove(e.inAll)
	s.events.Remove(e.inSession)
	s.bytes -= e.size()
	l.bytes -= e.size()
	s.dropped, st.dropped = e.Seq, e.Seq
	st.events[0] = nil
	if st.events = st.events[1:]; len(st.events) == 0 {
		delete(s.streams, st.name)
	}
}

// After implements state.Log.
func (l *Log) After(_ context.Context, sessionName, streamName string, seq uint64, limit int) ([]state.Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expireLocked(time.Now())
	s := l.sessions[sessionName]
	if s == nil {
		return nil, state.ErrGone
	}
	st := s.streams[streamName]
	if st == nil {
		return nil, state.ErrGone
	}
	i, found := slices.BinarySearchFunc(st.events, seq, func(e *event, seq uint64) int { return cmp.Compare(e.Seq, seq) })
	switch {
	case found:
		i++
	case seq != st.dropped:
		return nil, state.ErrGone
	}
	after := st.events[i:]
	after = after[:min(limit, len(after))]
	events := make([]state.Event, len(after))
	for i, e := range after {
		events[i] = e.Event
	}
	return events, nil
}

// Forget implements state.Log.
func (l *Log) Forget(_ context.Context, sessionName string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.sessions[sessionName]
	if s == nil {
		return nil
	}
	for e := first(&s.events); e != nil; e = first(&s.events) {
		l.dropLocked(e)
	}
	delete(l.sessions, sessionName)
	return nil
}

// Package memory keeps state in the memory of the process. What it keeps is
// bounded, and lost when the process ends.
package memory

import (
	"cmp"
	"container/heap"
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
	aging    ages // the sessions that have events
	bytes    int
}

var _ state.Log = (*Log)(nil)

// A session is what is kept of one session.
type session struct {
	streams map[string]*stream
	order   queue[*stream] // one for each event, oldest first
	bytes   int
	last    uint64 // the number of the newest event
	dropped uint64 // the highest number of an event that was dropped
	place   int    // in ages
	room    []byte // for the data of events to come, behind that of others
}

// A stream is what is kept of one stream; there is none without events.
type stream struct {
	name    string
	events  queue[event]
	dropped uint64 // no event after this one was dropped
}

type event struct {
	state.Event
	at time.Time
}

func (e *event) size() int { return len(e.Data) + overhead }

// oldest is when the oldest event of a session that has any was kept.
func (s *session) oldest() time.Time { return s.order.first().events.first().at }

// most is the size up to which the data of events shares memory.
const most = 4 << 10

// copied returns a copy of data. Small ones share memory, of which a session takes
// no more at a time than it has in use.
func (s *session) copied(data []byte) []byte {
	if len(data) > cap(s.room)-len(s.room) {
		s.room = make([]byte, 0, max(len(data), min(s.bytes-overhead*s.order.len(), most)))
	}
	start := len(s.room)
	s.room = append(s.room, data...)
	return s.room[start:len(s.room):len(s.room)]
}

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
	now := time.Now()
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
	seq := s.last
	e := event{state.Event{Seq: seq, Data: s.copied(data)}, now}
	st.events.push(e)
	s.order.push(st)
	s.bytes += e.size()
	l.bytes += e.size()
	if s.order.len() == 1 {
		heap.Push(&l.aging, s)
	}
	l.trimLocked(s, now)
	return seq, nil
}

// trimLocked drops what is over the bounds. s is the session that has grown.
func (l *Log) trimLocked(s *session, now time.Time) {
	for s.order.len() > l.opts.Events || s.bytes > l.opts.Bytes {
		l.dropLocked(s)
	}
	l.expireLocked(now)
	for l.bytes > l.opts.Total {
		l.dropLocked(l.aging[0])
	}
}

// expireLocked drops what is too old.
func (l *Log) expireLocked(now time.Time) {
	for len(l.aging) > 0 && now.Sub(l.aging[0].oldest()) >= l.opts.Age {
		l.dropLocked(l.aging[0])
	}
}

// dropLocked drops the oldest event of a session.
func (l *Log) dropLocked(s *session) {
	st := s.order.pop()
	e := st.events.pop()
	s.bytes -= e.size()
	l.bytes -= e.size()
	s.dropped, st.dropped = e.Seq, e.Seq
	if st.events.len() == 0 {
		delete(s.streams, st.name)
	}
	if s.order.len() == 0 {
		heap.Remove(&l.aging, s.place)
		s.room = nil
	} else {
		heap.Fix(&l.aging, s.place)
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
	kept := st.events.all()
	i, found := slices.BinarySearchFunc(kept, seq, func(e event, seq uint64) int { return cmp.Compare(e.Seq, seq) })
	switch {
	case found:
		i++
	case seq != st.dropped:
		return nil, state.ErrGone
	}
	after := kept[i:]
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
	for s.order.len() > 0 {
		l.dropLocked(s)
	}
	delete(l.sessions, sessionName)
	return nil
}

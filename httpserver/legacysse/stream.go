package legacysse

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/ferrymcp/ferry/httpserver/internal/web"
	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/transport"
)

// How many messages of a session wait to be read, and how many POSTs bring
// some at the same time.
const (
	maxQueued = 16
	maxPosts  = 64
)

// The types of events (2024-11-05/basic/transports#http-with-sse).
const (
	eventEndpoint = "endpoint"
	eventMessage  = "message"
)

// A stream is a client: the answer to its GET, and what it POSTs. It is the
// transport.Conn that the server reads and writes. It queues no answers: a
// client that is behind makes the server wait, and in the end loses the stream.
type stream struct {
	id        string
	principal string
	opts      *Options
	control   *http.ResponseController

	in       chan []byte   // messages that have not been read
	posts    chan struct{} // has a token for each POST under way
	stopping chan struct{} // closed when no more messages are read
	stopOnce sync.Once
	done     chan struct{} // closed when the stream is over
	endOnce  sync.Once
	reason   error       // why it is over, valid when done is closed
	silence  *time.Timer // ends the stream of a client that says nothing at all

	mu    sync.Mutex // guards what follows, which nothing uses after done
	out   web.Writer
	quiet *time.Timer // sends a comment when nothing was sent for a while
}

var _ transport.Conn = (*stream)(nil)

// newStream returns a stream that is not open yet.
func newStream(w http.ResponseWriter, r *http.Request, principal string, opts *Options) *stream {
	s := &stream{
		id: rand.Text(), principal: principal, opts: opts, control: http.NewResponseController(w),
		in: make(chan []byte, maxQueued), posts: make(chan struct{}, maxPosts),
		stopping: make(chan struct{}), done: make(chan struct{}),
	}
	s.out.Reset(&gate{w, s.done}, r, opts.WriteTimeout)
	s.silence = time.AfterFunc(opts.InitializeTimeout, func() {
		s.drop(fmt.Sprintf("the client has sent nothing for %v", opts.InitializeTimeout))
	})
	return s
}

// open begins the stream and tells the client where its messages go.
func (s *stream) open(r *http.Request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.ProtoMajor < 2 {
		// The stream's end is that of the connection, whose deadlines are ours.
		s.out.W.Header().Set("Connection", "close")
	}
	s.quiet = time.AfterFunc(s.opts.Keepalive, s.comment)
	if err := s.out.Open(); err != nil {
		return err
	}
	return s.sendLocked(eventEndpoint, []byte(s.endpoint(r)))
}

// endpoint is the URI for POSTs, relative to that of the stream. It begins with
// a slash, because some clients only join strings.
func (s *stream) endpoint(r *http.Request) string {
	path := s.opts.MessagePath
	if path == "" {
		// As the client wrote it: prefixes may have been cut off the parsed one.
		if path, _, _ = strings.Cut(r.RequestURI, "?"); !strings.HasPrefix(path, "/") {
			path = r.URL.EscapedPath()
		}
	}
	// Two slashes would begin the name of a host.
	return "/" + strings.TrimLeft(path, "/") + "?" + url.Values{sessionParam: {s.id}}.Encode()
}

// enter counts a POST. It reports false when there are too many already.
func (s *stream) enter() bool {
	select {
	case s.posts <- struct{}{}:
		return true
	default:
		return false
	}
}

func (s *stream) leave() { <-s.posts }

// heard notes that the client has sent a message.
func (s *stream) heard() { s.silence.Stop() }

// Read implements transport.Conn: it returns what was POSTed, in order.
func (s *stream) Read() ([]byte, error) {
	select {
	case frame := <-s.in:
		return frame, nil // before an end that comes at the same time
	default:
	}
	select {
	case frame := <-s.in:
		return frame, nil
	case <-s.stopping:
		return nil, io.EOF
	case <-s.done:
		return nil, s.reason
	}
}

// Write implements transport.Conn: it sends a message as an event.
func (s *stream) Write(frame []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sendLocked(eventMessage, frame)
}

func (s *stream) sendLocked(name string, data []byte) error {
	if s.over() {
		return s.reason
	}
	buf := jsonrpc.GetBuffer()
	defer jsonrpc.PutBuffer(buf)
	httpwire.BeginEvent(buf, httpwire.Event{Name: name})
	buf.Write(data)
	began := time.Now()
	if err := s.out.EndEvent(buf); err != nil {
		s.failLocked(err, began)
		return err
	}
	s.quiet.Reset(s.opts.Keepalive)
	return nil
}

// comment is called when nothing was sent for a while.
func (s *stream) comment() {
	if !s.mu.TryLock() {
		return // whoever holds it is writing
	}
	defer s.mu.Unlock()
	if s.over() {
		return
	}
	began := time.Now()
	if err := s.out.Comment(); err != nil {
		s.failLocked(err, began)
		return
	}
	s.quiet.Reset(s.opts.Keepalive)
}

// failLocked ends the stream when a write that began then has failed. That the
// client did not read is not to be taken for that it has gone, which net/http
// tells everybody of after any error.
func (s *stream) failLocked(err error, began time.Time) {
	if errors.Is(err, os.ErrDeadlineExceeded) && time.Since(began) >= s.opts.WriteTimeout {
		s.drop(fmt.Sprintf("the client has read nothing for %v", s.opts.WriteTimeout))
		return
	}
	s.end(err)
}

// drop ends the stream of a client that is still there.
func (s *stream) drop(reason string) {
	s.opts.Logger.Warn("event stream dropped", slog.String("reason", reason))
	s.end(errors.New(reason))
}

// stop makes the server take no more messages, and end the stream when it has
// answered those that it has.
func (s *stream) stop() { s.stopOnce.Do(func() { close(s.stopping) }) }

// end ends the stream at once. Only the first reason counts.
func (s *stream) end(reason error) {
	s.endOnce.Do(func() {
		s.reason = reason
		close(s.done)
		// A write that hangs fails. Where there are no deadlines it cannot hang.
		_ = s.control.SetWriteDeadline(time.Now())
	})
}

func (s *stream) over() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// Close implements transport.Conn. Nothing uses the answer of the GET after it.
func (s *stream) Close() error {
	s.end(transport.ErrClosed)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silence.Stop()
	if s.quiet != nil {
		s.quiet.Stop()
	}
	// The deadline must not hit what net/http still has to write.
	_ = s.control.SetWriteDeadline(time.Now().Add(s.opts.WriteTimeout))
	return nil
}

// A gate lets nothing through when the stream is over: a write in pieces would
// else give itself more time.
type gate struct {
	http.ResponseWriter
	done <-chan struct{}
}

func (g *gate) Write(b []byte) (int, error) {
	select {
	case <-g.done:
		return 0, transport.ErrClosed
	default:
		return g.ResponseWriter.Write(b)
	}
}

// Unwrap lets an http.ResponseController find the original.
func (g *gate) Unwrap() http.ResponseWriter { return g.ResponseWriter }

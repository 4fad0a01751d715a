package httpserver

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/ferrymcp/ferry/httpserver/internal/web"
	"github.com/ferrymcp/ferry/state"
	"github.com/ferrymcp/ferry/state/memory"
)

// Options configures a [Handler]. The zero value and nil give safe defaults.
type Options struct {
	// MaxBody is the most bytes the body of a request may have; 0 means 4 MiB.
	MaxBody int64
	// SessionIdle is how long a session lives without a request running or a
	// stream open; 0 means 5 minutes.
	SessionIdle time.Duration
	// InitializeTimeout is how long a session waits for the first message
	// after initialize; 0 means 60 s.
	InitializeTimeout time.Duration
	// MaxSessions is the most sessions there are at the same time; 0 means
	// 10,000. One more takes the place of a session that was never used after
	// initialize, or of the one that has been idle longest; when there is none,
	// it is refused. In stateless mode it bounds the requests of older
	// revisions that run at the same time.
	MaxSessions int
	// MaxConcurrent is the most requests of one session that run at the same
	// time; 0 means 256.
	MaxConcurrent int
	// Keepalive is how long a client that takes events hears nothing before a
	// comment is sent, so that no proxy takes the stream for dead; 0 means 15 s.
	Keepalive time.Duration
	// WriteTimeout is how long one write may take; 0 means 30 s. It takes the
	// place of http.Server.WriteTimeout, which would cut long answers. Writes
	// are pieces of up to 64 KiB.
	WriteTimeout time.Duration
	// AllowedOrigins are the Origin header values accepted besides those of
	// the same host, such as "https://app.example.com"; "*" accepts all.
	AllowedOrigins []string
	// AllowedHosts are the Host header values accepted, with or without port;
	// "*" accepts all. Without any, every host is accepted, except on loopback
	// addresses: there only names of this machine are, so that a web page
	// cannot reach the server by letting its own name point here. A server
	// behind a reverse proxy on the same machine needs its public name here.
	AllowedHosts []string
	// Stateless serves clients of older revisions without sessions: every
	// request stands for itself, there are no streams to open, and nothing is
	// kept between requests. It suits several instances behind one address.
	Stateless bool
	// Log keeps what was sent on the event streams of sessions, so that clients
	// that have lost a connection get the rest; nil means the memory of the
	// process, with the bounds of memory.LogOptions. A client that asks for what
	// is not kept any more is told so (status 410).
	Log state.Log
	// NoReplay turns that off: events have no ids and streams cannot be resumed.
	NoReplay bool
	// RetryAfter is how long clients are asked to wait before they resume a
	// stream that has ended; 0 means 1 s.
	RetryAfter time.Duration
	// Principal, when set, tells who sent a request. A session can only be
	// used by the principal that opened it. An error refuses the request with
	// status 401; one that is an http.Handler writes the refusal itself. It is not
	// needed behind package auth, whose principal is known without it.
	Principal func(*http.Request) (string, error)
	// Logger takes what the handler has to say; nil discards it.
	Logger *slog.Logger
}

// withDefaults returns a copy of o, which may be nil, that has all values.
func (o *Options) withDefaults() Options {
	var full Options
	if o != nil {
		full = *o
	}
	web.OrDefault(&full.MaxBody, web.MaxBody)
	web.OrDefault(&full.SessionIdle, 5*time.Minute)
	web.OrDefault(&full.InitializeTimeout, web.InitializeTimeout)
	web.OrDefault(&full.MaxSessions, web.MaxSessions)
	web.OrDefault(&full.MaxConcurrent, web.MaxConcurrent)
	web.OrDefault(&full.Keepalive, web.Keepalive)
	web.OrDefault(&full.WriteTimeout, web.WriteTimeout)
	web.OrDefault(&full.RetryAfter, time.Second)
	if full.Log == nil && !full.NoReplay {
		full.Log = memory.NewLog(nil)
	}
	if full.Logger == nil {
		full.Logger = slog.New(slog.DiscardHandler)
	}
	return full
}

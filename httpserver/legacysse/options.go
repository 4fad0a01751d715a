package legacysse

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/ferrymcp/ferry/httpserver/internal/web"
)

// Options configures a [Handler]. The zero value and nil give safe defaults.
type Options struct {
	// MessagePath is the path that clients POST to, as they see it, such as
	// "/message": the handler has to be reachable there. By default it is the
	// path of the event stream.
	MessagePath string
	// MaxBody is the most bytes the body of a POST may have; 0 means 4 MiB.
	MaxBody int64
	// InitializeTimeout is how long a stream waits for the client's first
	// message; 0 means 60 s. After it a stream lasts for as long as the client
	// keeps it open.
	InitializeTimeout time.Duration
	// MaxSessions is the most streams that are open at the same time; 0 means
	// 10,000. More are refused. How many requests of one stream run at the same
	// time is an option of the server.
	MaxSessions int
	// Keepalive is how long a client hears nothing before a comment is sent, so
	// that no proxy takes the stream for dead; 0 means 15 s.
	Keepalive time.Duration
	// WriteTimeout is how long one write may take; 0 means 30 s. A client that
	// does not read for so long loses its stream. Writes are pieces of up to
	// 64 KiB.
	WriteTimeout time.Duration
	// AllowedOrigins and AllowedHosts are the Origin and Host header values
	// accepted besides the safe ones, as in the options of package httpserver.
	AllowedOrigins, AllowedHosts []string
	// Principal, when set, tells who sent a request. Messages are only taken
	// from the principal that opened the stream. An error refuses the request
	// with status 401; one that is an http.Handler writes the refusal itself. It is
	// not needed behind package auth, whose principal is known without it.
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
	web.OrDefault(&full.InitializeTimeout, web.InitializeTimeout)
	web.OrDefault(&full.MaxSessions, web.MaxSessions)
	web.OrDefault(&full.Keepalive, web.Keepalive)
	web.OrDefault(&full.WriteTimeout, web.WriteTimeout)
	if full.Logger == nil {
		full.Logger = slog.New(slog.DiscardHandler)
	}
	return full
}

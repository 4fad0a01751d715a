package client

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/ferrymcp/ferry/mcp"
)

// Options says how a Client behaves. The zero value, and nil, mean the defaults.
type Options struct {
	// Revision is the one protocol revision to speak. Empty means the newest
	// that the server speaks too.
	Revision string
	// Capabilities are declared to every server as they are.
	Capabilities mcp.ClientCapabilities
	// Timeout bounds the wait for an answer; a call's progress starts it anew.
	// 0 means one minute, a negative value no limit.
	Timeout time.Duration
	// MaxTimeout bounds a call as a whole, progress or not. 0 means ten
	// minutes, a negative value no limit.
	MaxTimeout time.Duration
	// ConnectTimeout bounds Connect, and the renewal of a lost session. 0 means
	// one minute, a negative value no limit.
	ConnectTimeout time.Duration
	// ProbeTimeout is how long Connect waits for a sign of the stateless
	// revisions before it takes the server for an older one. It does not apply to
	// HTTP. 0 means five seconds.
	ProbeTimeout time.Duration
	// Logger gets what nobody else is told; nil discards it.
	Logger *slog.Logger
	// OnNotification gets the server's notifications in order, one at a time,
	// except the progress of calls that asked for it. While it takes its time
	// up to 1024 are kept; more are dropped and logged. It may call the
	// session. It may run before Connect returns.
	OnNotification func(method string, params json.RawMessage)
}

// The defaults of Options.
const (
	defaultTimeout        = time.Minute
	defaultMaxTimeout     = 10 * time.Minute
	defaultConnectTimeout = time.Minute
	defaultProbeTimeout   = 5 * time.Second
)

// withDefaults returns the options with everything filled in. A limit of 0
// there means none.
func (o *Options) withDefaults() Options {
	var filled Options
	if o != nil {
		filled = *o
	}
	filled.Timeout = limit(filled.Timeout, defaultTimeout)
	filled.MaxTimeout = limit(filled.MaxTimeout, defaultMaxTimeout)
	filled.ConnectTimeout = limit(filled.ConnectTimeout, defaultConnectTimeout)
	filled.ProbeTimeout = limit(filled.ProbeTimeout, defaultProbeTimeout)
	if filled.Logger == nil {
		filled.Logger = slog.New(slog.DiscardHandler)
	}
	return filled
}

// limit returns the limit that an option asks for, 0 for none.
func limit(option, byDefault time.Duration) time.Duration {
	switch {
	case option == 0:
		return byDefault
	case option < 0:
		return 0
	default:
		return option
	}
}

// withLimit bounds ctx unless the limit is 0.
func withLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, limit)
}

// CallOptions says how one call is made. nil means the defaults.
type CallOptions struct {
	// Progress asks the server for progress and gets it, in order, on the
	// goroutine that makes the call and before the call returns. It may miss
	// steps if it is slow, never the last one.
	Progress func(mcp.ProgressParams)
	// Timeout and MaxTimeout replace those of Options for this call.
	Timeout    time.Duration
	MaxTimeout time.Duration
}

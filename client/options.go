package client

import (
	"cmp"
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
	// Capabilities are declared to every server, as far as its revision knows
	// them. Those that follow from the handlers below are added unless they are
	// here already: say here what else a handler can do, such as URL mode in
	// Elicitation or tools in Sampling.
	Capabilities mcp.ClientCapabilities
	// OnElicit asks the user what a server wants to know: with a form, and with a
	// web page where Capabilities declare it. It should show who is asking, and
	// must not open or fetch the URL before the user has seen all of it and
	// agreed. Content is checked against the form and completed with its
	// defaults; other content than that of an accepted form is dropped.
	//
	// This and the other handlers may be called concurrently. Their context
	// ends when the question is withdrawn, or with the call or the session it
	// belongs to. To a server of a session an error is an internal error, unless
	// it is a *jsonrpc.Error; elsewhere the call fails with an *InputError.
	OnElicit func(ctx context.Context, params *mcp.ElicitParams) (*mcp.ElicitResult, error)
	// OnSample lets the user's model say something for a server. The user should
	// be able to see and to refuse it; mcp.CodeUserRejected is the code for that.
	// Messages and tools have been checked.
	OnSample func(ctx context.Context, params *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error)
	// Roots are the folders and files that servers may work in; nil means that
	// none are declared. Session.SetRoots replaces them.
	Roots []mcp.Root
	// OnRoots returns the roots each time a server asks, instead of Roots.
	OnRoots func(ctx context.Context) ([]mcp.Root, error)
	// MaxRounds bounds how often one call is repeated because the server of a
	// stateless revision asks for input. 0 means ten.
	MaxRounds int
	// Timeout bounds the wait for an answer; a call's progress starts it anew,
	// and it stands still while the server waits for a handler. 0 means one minute, a negative value no limit.
	Timeout time.Duration
	// MaxTimeout bounds a call as a whole, progress and questions of the server
	// or not. 0 means ten minutes, a negative value no limit.
	MaxTimeout time.Duration
	// ConnectTimeout bounds Connect, and the renewal of a lost session. 0 means
	// one minute, a negative value no limit.
	ConnectTimeout time.Duration
	// ProbeTimeout is how long Connect waits for a sign of the stateless
	// revisions before it takes the server for an older one. It does not apply to
	// HTTP. 0 means five seconds.
	ProbeTimeout time.Duration
	// KeepAlive is how often the server of a session is asked for a sign of life,
	// and how long it may take to give one; when it does not, the session is over
	// with an *UnreachableError. 0 means never. In the stateless revisions there
	// is nothing to keep alive.
	KeepAlive time.Duration
	// TrustOutput leaves the structured content of tools unchecked. Else a result
	// that does not fit the output schema that the server has listed for the tool
	// is a *ProtocolError.
	TrustOutput bool
	// Cache says what is kept of what servers call fresh for a while.
	Cache Cache
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
	defaultMaxRounds      = 10
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
	filled.MaxRounds = cmp.Or(filled.MaxRounds, defaultMaxRounds)
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

// plainCall are the options of calls without any; it is shared and not changed.
var plainCall = &CallOptions{}

// CallOptions says how one call is made. nil means the defaults.
type CallOptions struct {
	// Progress asks the server for progress and gets it, in order, on the
	// goroutine that makes the call and before the call returns. It may miss
	// steps if it is slow, never the last one.
	Progress func(mcp.ProgressParams)
	// Relay leaves all questions in results to the caller, also those that there
	// are handlers for: a result that asks for input is returned.
	Relay bool
	// Answer gets what the server asks about this call, instead of the handlers
	// of Options, and returns the result of the method that is asked for, also as
	// raw JSON. What may be asked is what Options.Capabilities declare. A server
	// of a session may not tell which call a question is about: then it is the
	// only one in flight, and the question is refused when there are several.
	Answer func(ctx context.Context, question mcp.InputRequest) (any, error)
	// Meta is added to the call's metadata and replaces what has the same keys
	// there: for the context of traces (traceparent, tracestate, baggage), and for
	// what client and server agree on.
	Meta mcp.Meta
	// LogLevel asks for log messages about this call from a level on, in the
	// stateless revisions; "" leaves it to Session.SetLogLevel. With sessions only
	// that counts.
	LogLevel mcp.LoggingLevel
	// Reload asks the server even if it has called an earlier result fresh.
	Reload bool
	// Timeout and MaxTimeout replace those of Options for this call.
	Timeout    time.Duration
	MaxTimeout time.Duration
}

package server

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// A Server holds features and serves them to any number of callers of every
// revision at once. Its methods may be called concurrently; features may be
// added and removed while it serves, and clients are told.
type Server struct {
	info    mcp.Implementation
	opts    Options
	log     *slog.Logger
	methods map[string]Handler // what the protocol defines; fixed after New

	tools     *registry[mcp.Tool]
	prompts   *registry[mcp.Prompt]
	resources *registry[mcp.Resource]
	templates *registry[mcp.ResourceTemplate]

	// resultMeta is the _meta of every result for stateless callers.
	resultMeta mcp.Meta
	identities identities
	hub        hub
	cursors    cursorKeys
	completes  atomic.Bool // there are completers
	keys       stateKeys

	mu       sync.Mutex
	chain    []Middleware
	custom   map[string]Handler
	extended map[string]json.RawMessage // the extensions declared; copied when it changes

	handler atomic.Pointer[Handler] // chain applied to dispatch

	ends endings
}

// Options configures a [Server]. The zero value and nil give safe defaults.
type Options struct {
	// Instructions tells clients, for the model, how to use the server.
	Instructions string
	// Logger takes what the server has to say; nil discards it.
	Logger *slog.Logger
	// View decides what a caller may see; nil shows everything to everybody.
	// It is asked for every request.
	View func(ctx context.Context, c *Call) *View
	// Complete answers completion/complete where no [Completer] does.
	Complete func(ctx context.Context, c *Call, p *mcp.CompleteParams) (*mcp.Completion, error)
	// Capabilities are declared in addition to those that the features imply,
	// for features that may come while clients are connected, and for extensions.
	Capabilities mcp.ServerCapabilities
	// PageSize is the most elements a list result holds; 0 means 1,000.
	PageSize int
	// TTL is how long clients of the stateless revisions may keep lists and
	// resources without asking again; 0 means not at all. A resource handler can
	// say otherwise in its result.
	TTL time.Duration
	// CacheScope is for whom they may keep lists and what the server is:
	// mcp.CachePublic lets caches share them between all callers, whoever they
	// are, and does not count with a View; "" means mcp.CachePrivate. Resources
	// are private unless their handler says otherwise.
	CacheScope string
	// MaxConcurrent is the most requests of one connection that run at the
	// same time; more are refused. 0 means 256.
	MaxConcurrent int
	// MaxFrameDepth is how deep the JSON of a message may nest; 0 means the
	// default of package jsonrpc.
	MaxFrameDepth int
	// ProgressRate is how many steps of progress a call may tell in a second;
	// what is said faster is skipped, except the first and the last step. 0
	// means 20, a negative value no limit.
	ProgressRate int
	// LogRate is how many log messages a session, or a stateless request, gets
	// in a second; what is said faster is counted, and the count told. 0 means
	// 100, a negative value no limit.
	LogRate int
	// KeepAlive is how often the client of a session on a connection is asked for
	// a sign of life, and how long it may take to give one; when it does not, the
	// connection ends with ErrUnresponsive. 0 means never. Sessions over HTTP and
	// clients of the stateless revisions are not asked.
	KeepAlive time.Duration
	// Drain is how long a connection whose client has gone waits for the
	// requests still running before it cancels them; 0 means 5 s.
	Drain time.Duration
	// AnswerTimeout is how long the client of a session may take to answer what
	// a handler asks; 0 means 10 min.
	AnswerTimeout time.Duration
	// StateTTL is how long a stateless client may take to call again with the
	// answers to what a handler asks; 0 means 15 min.
	StateTTL time.Duration
	// StateKeys seal what stateless clients carry between the rounds of a call, and
	// sign the cursors of lists:
	// secrets of at least 16 bytes. The first one seals and all of them open, so
	// that they can be changed in turn. Servers that take each other's place
	// behind one address need the same ones. Without any, a random key is made,
	// and the rounds of a call, and the pages of a list, have to reach the same
	// process.
	StateKeys [][]byte
	// PanicThrough lets a panic in a handler end the program, instead of
	// failing that call alone.
	PanicThrough bool
}

const (
	defaultPageSize      = 1000
	defaultMaxConcurrent = 256
	defaultProgressRate  = 20
	defaultLogRate       = 100
	defaultDrain         = 5 * time.Second
	defaultAnswerTimeout = 10 * time.Minute
)

// New returns a server that introduces itself as info. A nil opts means the
// defaults. New panics when info has no name or version, a state key is too
// short, or an extension or the scope is none.
func New(info mcp.Implementation, opts *Options) *Server {
	if info.Name == "" || info.Version == "" {
		panic("server.New: the implementation needs a name and a version")
	}
	s := &Server{info: info, custom: map[string]Handler{}}
	if opts != nil {
		s.opts = *opts
	}
	s.setDefaults()
	keys, err := newStateKeys(s.opts.StateKeys)
	if err != nil {
		panic(fmt.Sprintf("server.New: %v", err))
	}
	s.keys = keys
	if s.cursors, err = newCursorKeys(s.opts.StateKeys); err != nil {
		panic(fmt.Sprintf("server.New: %v", err))
	}
	if err := revision.CheckExtensions(s.opts.Capabilities.Extensions); err != nil {
		panic(fmt.Sprintf("server.New: %v", err))
	}
	if scope := s.opts.CacheScope; scope != mcp.CachePrivate && scope != mcp.CachePublic {
		panic(fmt.Sprintf("server.New: cache scope %q is neither %s nor %s", scope, mcp.CachePrivate, mcp.CachePublic))
	}
	s.resultMeta = mcp.Meta{mcp.MetaServerInfo: mustMarshal(info)}
	s.tools = newRegistry(s, changedTools, (*View).tool)
	s.prompts = newRegistry(s, changedPrompts, (*View).prompt)
	s.resources = newRegistry(s, changedResources, (*View).resource)
	s.templates = newRegistry(s, changedResources, (*View).template)
	s.hub.init(s)
	s.methods = s.protocolMethods()
	s.rebuild()
	return s
}

func (s *Server) setDefaults() {
	o := &s.opts
	if o.PageSize <= 0 {
		o.PageSize = defaultPageSize
	}
	if o.MaxConcurrent <= 0 {
		o.MaxConcurrent = defaultMaxConcurrent
	}
	if o.ProgressRate == 0 {
		o.ProgressRate = defaultProgressRate
	}
	if o.LogRate == 0 {
		o.LogRate = defaultLogRate
	}
	if o.Drain <= 0 {
		o.Drain = defaultDrain
	}
	if o.AnswerTimeout <= 0 {
		o.AnswerTimeout = defaultAnswerTimeout
	}
	if o.StateTTL <= 0 {
		o.StateTTL = defaultStateTTL
	}
	o.TTL = max(o.TTL, 0)
	if o.CacheScope == "" || o.View != nil && o.CacheScope == mcp.CachePublic {
		o.CacheScope = mcp.CachePrivate
	}
	s.log = o.Logger
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
}

// Limits returns the bounds that carriers put on every frame they decode.
func (s *Server) Limits() jsonrpc.Limits { return jsonrpc.Limits{Depth: s.opts.MaxFrameDepth} }

// Info returns what the server introduces itself as.
func (s *Server) Info() mcp.Implementation { return s.info }

// A Handler answers one request. The result is a value or pointer from package
// mcp, or a json.RawMessage that is sent as it is; nil is an empty result.
// A *jsonrpc.Error reaches the caller as it is, and so do the typed errors of
// package mcp; other errors reach it as an internal error without their text.
type Handler func(ctx context.Context, c *Call) (any, error)

// A Middleware wraps the handling of every request and notification, before
// views and features see it. Results that come from the server itself are
// shared between calls: change a copy.
type Middleware func(next Handler) Handler

// Use adds middleware. The first added is the outermost. Calls in flight keep
// the chain they began with.
func (s *Server) Use(middleware ...Middleware) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chain = append(s.chain, middleware...)
	s.rebuild()
}

// Handle answers a method that the protocol does not define, or takes over one
// that it does. It is for extensions and gateways.
func (s *Server) Handle(method string, h Handler) {
	if method == "" || h == nil {
		panic("server.Handle: the method needs a name and a handler")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	custom := make(map[string]Handler, len(s.custom)+1)
	maps.Copy(custom, s.custom)
	custom[method] = h
	s.custom = custom
	s.rebuild()
}

// rebuild makes the chain anew. The caller holds mu, or nobody else knows s.
func (s *Server) rebuild() {
	custom := s.custom
	handler := Handler(func(ctx context.Context, c *Call) (any, error) {
		if h, ok := custom[c.Method]; ok {
			return h(ctx, c)
		}
		h, ok := s.methods[c.Method]
		if ok && c.from.revision().Defines(c.Method) && s.offers(c.Method) && (!c.ID.IsZero() || isNotification(c.Method)) {
			return h(ctx, c)
		}
		return nil, &unknownMethodError{c.Method}
	})
	for _, v := range slices.Backward(s.chain) {
		handler = v(handler)
	}
	s.handler.Store(&handler)
}

// isNotification reports whether a method of the protocol is a notification. A
// request without an id wants no answer, so there is no point in its handling;
// what is more, some requests take long, and notifications are handled one
// after the other.
func isNotification(method string) bool { return strings.HasPrefix(method, "notifications/") }

// Close ends subscriptions and the connections of ServeConn, whose requests it
// cancels; nobody is told of changes any more. Requests and sessions of other
// carriers, such as those over HTTP, are ended by closing the carrier. Close may be
// called again.
func (s *Server) Close() error {
	s.ends.end()
	s.hub.close()
	return nil
}

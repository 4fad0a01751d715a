package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"

	"github.com/ferrymcp/ferry/apps/config"
	"github.com/ferrymcp/ferry/ext/apps"
	"github.com/ferrymcp/ferry/host"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// Options says how a Gateway behaves. Nil is valid.
type Options struct {
	// Info is what the gateway introduces itself as, to both sides; the default
	// is "ferry".
	Info mcp.Implementation
	// Server configures the server that clients see. Its Complete is replaced,
	// and tools, prompts and resources are always declared. A View governs
	// everything; asking it for resources is left to the gateway.
	Server server.Options
	// Host configures the connections that Open makes.
	Host host.Options
	// HTTPClient returns what sends Open's requests to a server over HTTP, with its
	// headers, such as one that knows where the user has logged in. A nil function, and
	// a nil client, mean the usual. It is for the caller to close, after the gateway.
	HTTPClient func(*config.Server) *http.Client
	// Logger gets what nobody else is told, and what child processes write to
	// standard error; nil discards it. It is used where Server and Host have
	// none of their own.
	Logger *slog.Logger
}

// defaultInfo is what a gateway says it is.
var defaultInfo = mcp.Implementation{Name: "ferry", Title: "Ferry", Version: "0.1.0"}

func (o *Options) filled() Options {
	var f Options
	if o != nil {
		f = *o
	}
	if f.Logger == nil {
		f.Logger = slog.New(slog.DiscardHandler)
	}
	if f.Server.Logger == nil {
		f.Server.Logger = f.Logger
	}
	if f.Host.Logger == nil {
		f.Host.Logger = f.Logger
	}
	if f.Info.Name == "" {
		f.Info = defaultInfo
	}
	// Pages of tools pass through. Servers with sessions have to be told before
	// it is known who will call them; the others hear it from each client.
	apps.Declare(&f.Host.Capabilities)
	return f
}

// A Gateway is a server whose features are those of other servers.
type Gateway struct {
	host *host.Host
	srv  *server.Server
	log  *slog.Logger
	view func(ctx context.Context, c *server.Call) *server.View
	stop func() // ends the watch

	builtins *builtins // nil if there are none
	flights  flights
	visits   visits

	closing  sync.Once
	closeErr error

	mu    sync.Mutex // guards what follows, and the order of changes to srv
	shown shown
}

// New returns a gateway to the servers of h, whether they are connected already
// or not. Close it to let go of h; h itself stays open.
func New(h *host.Host, opts *Options) *Gateway {
	o := opts.filled()
	g := &Gateway{host: h, log: o.Logger, view: o.Server.View}
	caps := &o.Server.Capabilities
	caps.Tools = &mcp.ToolsCapability{ListChanged: true}
	caps.Prompts = &mcp.PromptsCapability{ListChanged: true}
	caps.Resources = &mcp.ResourcesCapability{ListChanged: true, Subscribe: true}
	o.Server.Complete = g.complete
	g.srv = server.New(o.Info, &o.Server)
	g.srv.Use(g.subscriptions)
	g.srv.Handle(mcp.MethodResourcesRead, g.readResource)
	g.stop = h.Watch(host.Hooks{Changed: g.sync, ResourceUpdated: g.updated, Log: g.logged, ElicitationComplete: g.visited})
	g.sync()
	return g
}

// Server returns the server to put on a carrier. Others may add features to it
// whose names no upstream has.
func (g *Gateway) Server() *server.Server { return g.srv }

// Host returns the owner of the connections.
func (g *Gateway) Host() *host.Host { return g.host }

// Status returns how each server is doing.
func (g *Gateway) Status() []host.UpstreamStatus { return g.host.Status() }

// Where tells where a server that comes with the program keeps what it is told;
// empty if nowhere, and for all others.
func (g *Gateway) Where(name string) string {
	if g.builtins == nil {
		return ""
	}
	return g.builtins.where(name)
}

// Close ends the server and, if Open made them, all connections, processes and
// servers behind it. It is bounded and may be called more than once.
func (g *Gateway) Close() error {
	g.closing.Do(func() {
		g.stop()
		g.closeErr = g.srv.Close()
		g.flights.close()
		if g.builtins != nil {
			g.closeErr = errors.Join(g.closeErr, g.host.Close(), g.builtins.close())
		}
	})
	return g.closeErr
}

// logged puts the log message of a server into the log.
func (g *Gateway) logged(upstream string, m mcp.LoggingMessageParams) {
	log := g.log.Info
	switch {
	case m.Level.AtLeast(mcp.LevelError):
		log = g.log.Error
	case m.Level.AtLeast(mcp.LevelWarning):
		log = g.log.Warn
	case m.Level == mcp.LevelDebug:
		log = g.log.Debug
	}
	log("message of a server", slog.String("server", upstream), slog.String("logger", m.Logger), slog.String("data", string(m.Data)))
}

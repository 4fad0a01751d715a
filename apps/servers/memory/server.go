// Package memory is the server "memory": a knowledge graph in which a model keeps
// what it should know in later conversations. The graph is kept by package store,
// where several processes may use it at the same time.
package memory

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/ferrymcp/ferry/apps/servers/internal/icon"
	"github.com/ferrymcp/ferry/apps/servers/memory/graph"
	"github.com/ferrymcp/ferry/apps/servers/memory/store"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// version is what the server says of itself; it follows its tools.
const version = "1.0.0"

// Options configures the server. Nil is valid.
type Options struct {
	// File is the file of JSON lines that the graph is kept in, which is made when
	// there is something to keep; DefaultFile if empty.
	File string
	// Database is an SQLite database that the graph is kept in instead, if not empty.
	Database string
	// ReadOnly leaves out the tools that change something.
	ReadOnly bool
	// Server configures what is not special to this server; nil is valid.
	Server *server.Options
}

// A Server serves one graph. It must be closed; the embedded Server can be handed to
// whatever serves a server.
type Server struct {
	*server.Server
	store store.Store
	watch *watch
}

// DefaultFile is memory.jsonl in the folder of this program's configuration for
// this user. The error is that the system knows no such folder.
func DefaultFile() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("where to keep the memory: %w: name a file", err)
	}
	return filepath.Join(dir, "ferry", "memory.jsonl"), nil
}

// New opens the store and makes the server.
func New(ctx context.Context, opts *Options) (*Server, error) {
	if opts == nil {
		opts = &Options{}
	}
	kept, err := opts.open(ctx)
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.DiscardHandler)
	if opts.Server != nil && opts.Server.Logger != nil {
		log = opts.Server.Logger
	}
	picture := icon.Line("M12 3a4 4 0 0 0-4 4 4 4 0 0 0-3 7 4 4 0 0 0 7 5 4 4 0 0 0 7-5 4 4 0 0 0-3-7 4 4 0 0 0-4-4zm0 0v16M8 11h8")
	info := mcp.Implementation{Name: "memory", Title: "Memory", Version: version, Icons: picture}
	srv := server.New(info, opts.Server)
	s := &Server{Server: srv, store: kept, watch: newWatch(kept, log, func() {
		srv.ResourceUpdated(graphURI)
		srv.ResourceUpdated(linesURI)
	})}
	t := &tools{store: kept, changed: s.watch.changed, icons: picture}
	t.addReading(srv)
	if !opts.ReadOnly {
		t.addAdding(srv)
		t.addDeleting(srv)
	}
	t.addResources(srv)
	srv.Use(s.watch.subscriptions)
	return s, nil
}

func (o *Options) open(ctx context.Context) (store.Store, error) {
	if o.Database != "" {
		if o.File != "" {
			return nil, errors.New("the memory is kept in a file or in a database: name one of them")
		}
		return store.OpenDatabase(ctx, o.Database)
	}
	name := o.File
	if name == "" {
		var err error
		if name, err = DefaultFile(); err != nil {
			return nil, err
		}
	}
	return store.OpenFile(name)
}

// Path is the file that the graph is kept in.
func (s *Server) Path() string { return s.store.Path() }

// Import adds the graph of a file of JSON lines, such as one of another server of
// this kind. What is there already stays; lines that are none of a graph are an error,
// and nothing is added then.
func (s *Server) Import(ctx context.Context, data []byte) error {
	doc := graph.Parse(data)
	if n := len(doc.Foreign); n > 0 {
		return fmt.Errorf("import into the memory: %d lines are neither entity nor relation, the first is %.80q", n, doc.Foreign[0])
	}
	return s.store.Import(ctx, doc.Graph)
}

// Close ends the server and gives the store back. It may be called again.
func (s *Server) Close() error {
	return errors.Join(s.Server.Close(), s.watch.close(), s.store.Close())
}

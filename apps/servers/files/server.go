// Package files is the server "files": it lets a model read, search and change
// the files of some folders and of nothing outside them. The work is done by
// package folder; this package gives it the form of tools and resources.
package files

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"

	"github.com/ferrymcp/ferry/apps/servers/files/folder"
	"github.com/ferrymcp/ferry/apps/servers/internal/icon"
	"github.com/ferrymcp/ferry/apps/servers/internal/result"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// version is what the server says of itself; it follows its tools.
const version = "1.1.0"

// Options configures the server.
type Options struct {
	// Folders are the folders that may be used. There must be one, unless the client
	// names them: see Roots.
	Folders []string
	// Roots says what the client's roots are for.
	Roots RootsPolicy
	// ReadOnly leaves out the tools that change something.
	ReadOnly bool
	// Limits bound what one call can cost.
	Limits folder.Limits
	// Server configures what is not special to this server; nil is valid.
	Server *server.Options
}

// A Server serves some folders. It holds them open, so it must be closed; the
// embedded Server can be handed to whatever serves a server.
type Server struct {
	*server.Server
	tools *tools
}

// tools are the tools over the folders.
type tools struct {
	opts    Options
	own     *folder.Set // nil if there are none
	writing sync.Mutex  // held while a file is replaced, whatever set it is in
	roots   roots
	watch   *watch
	log     *slog.Logger
	icons   []mcp.Icon
}

// New opens the folders and makes the server. Folders that cannot be used are left
// out with a word in the log, as long as there is one left. Nil opts are an error, as
// there are no folders in them.
func New(opts *Options) (*Server, error) {
	t := &tools{log: slog.New(slog.DiscardHandler)}
	if opts != nil {
		t.opts = *opts
	}
	if o := t.opts.Server; o != nil && o.Logger != nil {
		t.log = o.Logger
	}
	own, err := folder.OpenSet(t.opts.Folders, t.opts.Limits, &t.writing)
	switch {
	case own == nil && err != nil:
		return nil, err
	case own == nil && t.opts.Roots != RootsReplace:
		return nil, errors.New("there is no folder to serve: name one")
	case err != nil:
		t.log.Warn("folders left out", slog.Any("error", err))
	}
	t.own = own
	t.icons = icon.Line("M3 6a2 2 0 0 1 2-2h4l2 3h8a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z")
	srv := server.New(mcp.Implementation{Name: "files", Title: "Files", Version: version, Icons: t.icons}, t.opts.Server)
	t.watch = newWatch(t.log, srv.ResourceUpdated)
	t.addReading(srv)
	t.addListing(srv)
	t.addSearching(srv)
	if !t.opts.ReadOnly {
		t.addWriting(srv)
	}
	t.addResources(srv)
	srv.Use(t.rootsChanged)
	return &Server{Server: srv, tools: t}, nil
}

// Close ends the server and gives the folders back. It may be called again.
func (s *Server) Close() error {
	errs := []error{s.Server.Close(), s.tools.watch.close()}
	if s.tools.own != nil {
		errs = append(errs, s.tools.own.Close())
	}
	return errors.Join(errs...)
}

// reading are the hints of tools that change nothing.
func reading() *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: mcp.Ptr(false), IdempotentHint: true, OpenWorldHint: mcp.Ptr(false)}
}

// writing are the hints of tools that change something.
func writing(idempotent, destructive bool) *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{IdempotentHint: idempotent, DestructiveHint: &destructive, OpenWorldHint: mcp.Ptr(false)}
}

// text makes a result of a text. Notes are for the model and not part of it.
func text(content string, notes ...string) (*mcp.CallToolResult, error) {
	answer, err := result.JSON(struct {
		Content string `json:"content"`
	}{content})
	if err != nil {
		return nil, err
	}
	answer.Content = []mcp.Content{mcp.Text(content)}
	for _, note := range notes {
		if note != "" {
			answer.Content = append(answer.Content, mcp.Text(note))
		}
	}
	return answer, nil
}

// A request is a call of a tool: its arguments, and the folders that it may use.
type request[In any] struct {
	*folder.Set
	call *server.Call
	in   In
}

// add adds a tool whose result is a text.
func add[In any](t *tools, srv *server.Server, tool mcp.Tool, fn func(ctx context.Context, r request[In]) (*mcp.CallToolResult, error)) {
	if tool.OutputSchema == nil {
		tool.OutputSchema = contentSchema
	}
	tool.InputSchema = inputSchemas[tool.Name]
	tool.Icons = t.icons
	server.AddTool(srv, tool, func(ctx context.Context, c *server.Call, in In) (*mcp.CallToolResult, error) {
		set, done, err := t.folders(ctx, c)
		if err != nil {
			return nil, err
		}
		defer done()
		return fn(ctx, request[In]{set, c, in})
	})
}

// raw is JSON of anything.
func raw(v any) (json.RawMessage, error) { return json.Marshal(v) }

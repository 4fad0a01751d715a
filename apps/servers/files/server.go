// Package files is the server "files": it lets a model read, search and change
// the files of one folder and of nothing outside it. The work is done by
// package folder; this package gives it the form of tools and resources.
package files

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"

	"github.com/ferrymcp/ferry/apps/servers/files/folder"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// version is what the server says of itself; it follows its tools.
const version = "1.0.0"

// maxListed is how many files of the folder itself are listed as resources.
const maxListed = 100

// Options configures the server. Nil is valid.
type Options struct {
	// ReadOnly leaves out the tools that change something.
	ReadOnly bool
	// Limits bound what one call can cost.
	Limits folder.Limits
	// Server configures what is not special to this server; nil is valid.
	Server *server.Options
}

// A Server serves one folder. It holds the folder open, so it must be closed;
// the embedded Server can be handed to whatever serves a server.
type Server struct {
	*server.Server
	folder *folder.Folder
}

// New opens the folder and makes the server.
func New(dir string, opts *Options) (*Server, error) {
	if opts == nil {
		opts = &Options{}
	}
	f, err := folder.Open(dir, opts.Limits)
	if err != nil {
		return nil, err
	}
	info := mcp.Implementation{Name: "files", Title: "Files", Version: version}
	srv := server.New(info, opts.Server)
	t := &tools{folder: f}
	t.addReading(srv)
	t.addListing(srv)
	t.addSearching(srv)
	if !opts.ReadOnly {
		t.addWriting(srv)
	}
	t.addResources(srv)
	return &Server{Server: srv, folder: f}, nil
}

// Close ends the server and gives the folder back. It may be called again.
func (s *Server) Close() error {
	return errors.Join(s.Server.Close(), s.folder.Close())
}

// tools are the tools over one folder.
type tools struct{ folder *folder.Folder }

// reading are the hints of tools that change nothing.
func reading() *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: mcp.Ptr(false), IdempotentHint: true, OpenWorldHint: mcp.Ptr(false)}
}

// writing are the hints of tools that change something.
func writing(idempotent, destructive bool) *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{IdempotentHint: idempotent, DestructiveHint: &destructive, OpenWorldHint: mcp.Ptr(false)}
}

// contentSchema describes what most tools give: their text, once more.
var contentSchema = json.RawMessage(`{"type":"object","properties":{"content":{"type":"string"}},"required":["content"]}`)

// text makes a result of a text. Notes are for the model and not part of it.
func text(content string, notes ...string) (*mcp.CallToolResult, error) {
	raw, err := json.Marshal(struct {
		Content string `json:"content"`
	}{content})
	if err != nil {
		return nil, err
	}
	result := &mcp.CallToolResult{Content: []mcp.Content{mcp.Text(content)}, StructuredContent: raw}
	for _, note := range notes {
		if note != "" {
			result.Content = append(result.Content, mcp.Text(note))
		}
	}
	return result, nil
}

// add adds a tool whose result is a text.
func add[In any](srv *server.Server, t mcp.Tool, fn func(ctx context.Context, in In) (*mcp.CallToolResult, error)) {
	t.OutputSchema = contentSchema
	server.AddTool(srv, t, func(ctx context.Context, _ *server.Call, in In) (*mcp.CallToolResult, error) { return fn(ctx, in) })
}

// addResources lets clients read files by address. Only the files of the
// folder itself are listed, as they are at that time.
func (t *tools) addResources(srv *server.Server) {
	srv.AddResourceTemplate(mcp.ResourceTemplate{
		URITemplate: "file:///{+path}",
		Name:        "file",
		Title:       "File",
		Description: "A file in " + t.folder.Dir() + ", by its absolute path",
	}, t.readResource)
	srv.Use(func(next server.Handler) server.Handler {
		return func(ctx context.Context, c *server.Call) (any, error) {
			result, err := next(ctx, c)
			if list, ok := result.(*mcp.ListResourcesResult); ok && err == nil {
				return t.listResources(list)
			}
			return result, err
		}
	})
}

// listResources puts the files into a copy of the list.
func (t *tools) listResources(list *mcp.ListResourcesResult) (any, error) {
	files, err := t.folder.Files(maxListed)
	if err != nil {
		return nil, refused(err)
	}
	with := *list
	with.Resources = make([]mcp.Resource, len(files))
	for i, f := range files {
		uri, err := t.folder.URI(f.Path)
		if err != nil {
			return nil, refused(err)
		}
		with.Resources[i] = mcp.Resource{URI: uri, Name: f.Path, MIMEType: f.MIMEType, Size: &f.Size}
	}
	return &with, nil
}

// readResource reads a file, as text if it is text.
func (t *tools) readResource(_ context.Context, _ *server.Call, uri string, _ map[string]string) (*mcp.ReadResourceResult, error) {
	name, err := t.folder.FromURI(uri)
	if err != nil {
		return nil, refused(err)
	}
	b, err := t.folder.ReadBytes(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &mcp.ResourceNotFoundError{URI: uri}
	case err != nil:
		return nil, refused(err)
	}
	contents := mcp.BlobResource(uri, b.MIMEType, b.Data)
	if b.Text() {
		contents = mcp.TextResource(uri, b.MIMEType, string(b.Data))
	}
	return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{contents}}, nil
}

// refused makes an error whose text reaches the client: package folder writes
// its errors for whoever asked.
func refused(err error) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
}

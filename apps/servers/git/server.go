// Package git is the server "git": it lets a model look at git repositories, stage
// and commit in them, and switch branches. The work is done by package repo, which
// keeps repositories from running programs and from leading out of themselves; this
// package gives it the form of tools and resources.
package git

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/ferrymcp/ferry/apps/servers/git/repo"
	"github.com/ferrymcp/ferry/apps/servers/internal/icon"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// version is what the server says of itself; it follows its tools.
const version = "1.0.0"

// Options configures the server. Nil is valid.
type Options struct {
	// Repositories are the folders of the repositories that may be used, and no others
	// may. Without any, these are the roots of a client that has roots; for other
	// clients any repository on this machine may be used.
	Repositories []string
	// ReadOnly leaves out the tools that change something.
	ReadOnly bool
	// Program is the git program; "" finds it in the PATH.
	Program string
	// Limits bound what one call can cost.
	Limits repo.Limits
	// Server configures what is not special to this server; nil is valid.
	Server *server.Options
}

// New makes the server. It is an error if there is no git program, or one of the
// repositories is none.
func New(opts *Options) (*server.Server, error) {
	if opts == nil {
		opts = &Options{}
	}
	program, err := repo.Find(opts.Program, opts.Limits)
	if err != nil {
		return nil, err
	}
	t := &tools{git: program}
	for _, dir := range opts.Repositories {
		full, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		if !repo.IsRoot(full) {
			return nil, fmt.Errorf("%s is not the folder of a git repository: it has no .git", dir)
		}
		t.repositories = append(t.repositories, full)
	}
	var o server.Options
	if opts.Server != nil {
		o = *opts.Server
	}
	if o.Instructions == "" && len(t.repositories) > 0 {
		o.Instructions = "The repositories are: " + strings.Join(t.repositories, ", ")
	}
	srv := server.New(mcp.Implementation{Name: "git", Title: "Git", Version: version, Icons: icons}, &o)
	t.addReading(srv)
	if !opts.ReadOnly {
		t.addWriting(srv)
	}
	t.addResources(srv)
	return srv, nil
}

// icons is the picture of the server and its tools: a branch that leaves another.
var icons = icon.Line("M6 3v12M18 9a9 9 0 0 1-9 9M6 15a3 3 0 1 0 0 6 3 3 0 0 0 0-6M18 3a3 3 0 1 0 0 6 3 3 0 0 0 0-6")

// tools are the tools over some repositories.
type tools struct {
	git          *repo.Git
	repositories []string // absolute
}

// open opens the repository that a call names.
func (t *tools) open(ctx context.Context, c *server.Call, path string) (*repo.Repo, error) {
	allowed, err := t.allowed(ctx, c)
	if err != nil {
		return nil, err
	}
	if path != "" && !filepath.IsAbs(path) && len(allowed) > 0 {
		path = filepath.Join(allowed[0], path)
	}
	return t.git.Open(ctx, path, allowed)
}

// allowed are the folders that a caller may use; none is all.
func (t *tools) allowed(ctx context.Context, c *server.Call) ([]string, error) {
	if len(t.repositories) > 0 || c.ClientCapabilities().Roots == nil {
		return t.repositories, nil
	}
	roots, err := server.Roots(ctx, c, "roots")
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, root := range roots {
		dir, err := pathOf(root.URI)
		if err != nil {
			return nil, err
		}
		dirs = append(dirs, dir)
	}
	return dirs, nil
}

// pathOf returns the path of a file URI.
func pathOf(uri string) (string, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || u.Path == "" {
		return "", errors.New("one of the client's roots is not a folder on this machine")
	}
	path := u.Path
	if len(path) > 2 && path[2] == ':' {
		path = path[1:] // a drive
	}
	return filepath.FromSlash(path), nil
}

// reading are the hints of tools that change nothing.
func reading() *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: mcp.Ptr(false), IdempotentHint: true, OpenWorldHint: mcp.Ptr(false)}
}

// writing are the hints of tools that change something.
func writing(idempotent, destructive bool) *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{IdempotentHint: idempotent, DestructiveHint: &destructive, OpenWorldHint: mcp.Ptr(false)}
}

// textSchema describes what tools give that return a text: the text, once more.
var textSchema = json.RawMessage(`{"type":"object","properties":{` +
	`"content":{"type":"string"},` +
	`"next_offset":{"type":"integer","description":"the offset that returns what follows; absent at the end"}},"required":["content"]}`)

// paged makes a result of a part of a text. What to do for the rest is for the model
// and not part of it.
func paged(heading string, p repo.Page) (*mcp.CallToolResult, error) {
	var note string
	if p.Next > 0 {
		note = fmt.Sprintf("… there is more: call again with offset=%d, or for less", p.Next)
	}
	return result(heading+p.Text, struct {
		Content string `json:"content"`
		Next    int    `json:"next_offset,omitzero"`
	}{heading + p.Text, p.Next}, note)
}

// result makes a result of a text and of what it says, for programs.
func result(text string, structured any, notes ...string) (*mcp.CallToolResult, error) {
	raw, err := json.Marshal(structured)
	if err != nil {
		return nil, err
	}
	r := &mcp.CallToolResult{Content: []mcp.Content{mcp.Text(text)}, StructuredContent: raw}
	for _, note := range notes {
		if note != "" {
			r.Content = append(r.Content, mcp.Text(note))
		}
	}
	return r, nil
}

// add adds a tool that works in a repository.
func add[In interface{ in() string }](t *tools, srv *server.Server, tool mcp.Tool, fn func(ctx context.Context, r *repo.Repo, in In) (*mcp.CallToolResult, error)) {
	tool.Icons = icons
	if tool.OutputSchema == nil {
		tool.OutputSchema = textSchema
	}
	server.AddTool(srv, tool, func(ctx context.Context, c *server.Call, in In) (*mcp.CallToolResult, error) {
		r, err := t.open(ctx, c, in.in())
		if err != nil {
			return nil, err
		}
		return fn(ctx, r, in)
	})
}

// where is the argument that all tools have.
type where struct {
	Path string `json:"repo_path" jsonschema:"folder of the git repository; a path that is not absolute is relative to the first repository that may be used"`
}

func (w where) in() string { return w.Path }

// window are the arguments for the part of a text.
type window struct {
	Offset int `json:"offset,omitzero" jsonschema:"description=leave out so many lines at the beginning,minimum=0"`
	Limit  int `json:"limit,omitzero" jsonschema:"description=return so many lines at most,minimum=0"`
}

func (w window) window() repo.Window { return repo.Window{Skip: w.Offset, Lines: w.Limit} }

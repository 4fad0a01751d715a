// Package config reads the file in which a person lists MCP servers: mcp.json
// in the form that desktop clients share (mcpServers) and in the form of
// VS Code (servers), with comments and trailing commas allowed, and a member
// "ferry" for what only this program knows.
//
// It reads and checks; it starts nothing. Entries keep the order of the file,
// because the first of two tools with the same name wins. Values in env and
// headers are taken for secrets: no String method and no error prints them.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxFile bounds the file: a configuration is written by hand.
const maxFile = 1 << 20

// Config is what a file says.
type Config struct {
	// Path is the name of the file, as it was given.
	Path string
	// Dir is the workspace folder: what ${workspaceFolder} stands for.
	Dir string
	// Servers are the entries in the order of the file, disabled ones included.
	Servers []Server
	// Ferry is the member "ferry".
	Ferry Ferry
}

// Ferry is what the member "ferry" of the file says.
type Ferry struct {
	// Separator stands between a server's prefix and a name; empty if not said.
	Separator string
	// Listen is the address to serve HTTP on; empty if not said.
	Listen string
	// Builtins are the servers that come with this program, in the order of
	// the file. Their Kind is Builtin and their Command is the server's name.
	Builtins []Server
}

// String lists the servers without their secrets.
func (c *Config) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:", c.Path)
	for _, list := range [][]Server{c.Servers, c.Ferry.Builtins} {
		for _, s := range list {
			b.WriteString("\n  " + s.String())
		}
	}
	return b.String()
}

// Options are what Parse needs to know besides the file. Nil is valid.
type Options struct {
	// Dir is the workspace folder; the working directory if empty.
	Dir string
	// LookupEnv finds a variable; os.LookupEnv if nil.
	LookupEnv func(name string) (string, bool)
}

// A Warning tells of something in the file that is ignored or was guessed.
type Warning struct {
	File         string
	Line, Column int
	Message      string
}

// String gives the warning in the form file:line:column: message.
func (w Warning) String() string {
	return fmt.Sprintf("%s:%d:%d: %s", w.File, w.Line, w.Column, w.Message)
}

// An Error tells what is wrong in the file and where. Column counts bytes
// from 1. Load and Parse join several with errors.Join.
type Error struct {
	File         string
	Line, Column int
	// Server is the entry the error is about, empty if about none.
	Server string
	// Variable is set when a variable without a value is what is wrong.
	Variable string
	Message  string
}

// Error gives the error in the form file:line:column: message.
func (e *Error) Error() string {
	where := fmt.Sprintf("%s:%d:%d: ", e.File, e.Line, e.Column)
	if e.Server != "" {
		where += fmt.Sprintf("server %q: ", e.Server)
	}
	return where + e.Message
}

// names are where Find looks, in this order.
var names = []string{"mcp.json", ".mcp.json", filepath.Join(".vscode", "mcp.json")}

// Find returns the first of mcp.json, .mcp.json and .vscode/mcp.json that is in
// dir. The error is fs.ErrNotExist if there is none.
func Find(dir string) (string, error) {
	for _, name := range names {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		switch {
		case err == nil && info.IsDir():
			continue
		case err == nil:
			return path, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("find configuration: %w", err)
		}
	}
	return "", fmt.Errorf("find configuration in %s: none of %s: %w", dir, strings.Join(names, ", "), fs.ErrNotExist)
}

// Load reads the file at path. Its workspace folder is the folder it is in, or
// that folder's parent if it is .vscode.
func Load(path string) (*Config, []Warning, error) {
	data, err := read(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read configuration: %w", err)
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read configuration %s: %w", path, err)
	}
	dir := filepath.Dir(full)
	if filepath.Base(dir) == ".vscode" {
		dir = filepath.Dir(dir)
	}
	return Parse(path, data, &Options{Dir: dir})
}

// read reads a regular file of bounded size. Anything else is refused before
// it is opened, because opening a pipe can block for ever.
func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return data, nil
}

// Parse reads a file's content. The name is used in messages only. When the
// error is not nil it is one *Error or several joined, and the Config is nil.
func Parse(name string, data []byte, opts *Options) (*Config, []Warning, error) {
	if opts == nil {
		opts = &Options{}
	}
	r := &reader{file: name, dir: opts.Dir, lookup: opts.LookupEnv}
	if r.lookup == nil {
		r.lookup = os.LookupEnv
	}
	if r.dir == "" {
		dir, err := os.Getwd()
		if err != nil {
			return nil, nil, fmt.Errorf("read configuration %s: %w", name, err)
		}
		r.dir = dir
	}
	cfg := r.config(data)
	slices.SortStableFunc(r.warnings, func(a, b Warning) int {
		return cmp.Or(a.Line-b.Line, a.Column-b.Column)
	})
	if len(r.errs) > 0 {
		return nil, r.warnings, errors.Join(r.errs...)
	}
	return cfg, r.warnings, nil
}

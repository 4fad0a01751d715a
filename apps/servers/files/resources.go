package files

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/ferrymcp/ferry/apps/servers/files/folder"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// maxListed is how many files of the folders themselves are listed as resources, and
// maxProposed how many paths are proposed for what was typed.
const (
	maxListed   = 100
	maxProposed = 1000
)

const separator = string(filepath.Separator)

// native is a path as the system writes it.
func native(name string) string { return filepath.FromSlash(name) }

// template is the addresses of files.
const template = "file:///{+path}"

// addResources lets clients read files by address. Only the files of the folders
// themselves are listed, as they are at that time.
func (t *tools) addResources(srv *server.Server) {
	srv.AddResourceTemplate(mcp.ResourceTemplate{
		URITemplate: template, Name: "file", Title: "File", Icons: t.icons,
		Description: "A file in one of the allowed folders, by its absolute path",
	}, t.readResource)
	srv.CompleteResource(template, "path", t.propose)
	srv.Use(func(next server.Handler) server.Handler {
		return func(ctx context.Context, c *server.Call) (any, error) {
			result, err := next(ctx, c)
			if list, ok := result.(*mcp.ListResourcesResult); ok && err == nil {
				return t.listResources(ctx, c, list)
			}
			return result, err
		}
	}, t.subscriptions)
}

// listResources puts the files into a copy of the list.
func (t *tools) listResources(ctx context.Context, c *server.Call, list *mcp.ListResourcesResult) (any, error) {
	set, done, err := t.listable(ctx, c)
	if err != nil {
		return nil, refused(err)
	}
	defer done()
	with := *list
	with.Resources = []mcp.Resource{}
	for _, f := range set.Folders() {
		files, err := f.Files(maxListed - len(with.Resources))
		if err != nil {
			return nil, refused(err)
		}
		for _, info := range files {
			uri, err := f.URI(info.Path)
			if err != nil {
				return nil, refused(err)
			}
			with.Resources = append(with.Resources, mcp.Resource{URI: uri, Name: info.Path, MIMEType: info.MIMEType, Size: &info.Size})
		}
	}
	return &with, nil
}

// listable are the folders whose files are listed. A list cannot ask the client in
// the revisions without sessions, and should not be an error where there is no folder.
func (t *tools) listable(ctx context.Context, c *server.Call) (*folder.Set, func(), error) {
	if c.Session() == nil && c.ClientCapabilities().Roots != nil && t.opts.Roots != RootsIgnore {
		return &folder.Set{}, func() {}, nil
	}
	set, done, err := t.folders(ctx, c)
	if err != nil && ctx.Err() == nil {
		return &folder.Set{}, func() {}, nil
	}
	return set, done, err
}

// readResource reads a file, as text if it is text.
func (t *tools) readResource(ctx context.Context, c *server.Call, uri string, _ map[string]string) (*mcp.ReadResourceResult, error) {
	name, err := folder.PathOf(uri)
	if err != nil {
		return nil, refused(err)
	}
	set, done, err := t.folders(ctx, c)
	if errors.Is(err, server.ErrInputRequired) {
		return nil, err
	}
	if err != nil {
		return nil, refused(err)
	}
	defer done()
	f, rel, err := set.At(name)
	if err != nil {
		return nil, refused(err)
	}
	b, err := f.ReadBytes(rel)
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

// propose completes a path: what is in the folder that was typed so far.
func (t *tools) propose(ctx context.Context, c *server.Call, typed string, _ map[string]string) ([]string, error) {
	set, done, err := t.listable(ctx, c)
	if err != nil {
		return nil, err
	}
	defer done()
	var values []string
	for _, f := range set.Folders() {
		values = append(values, strings.TrimPrefix(filepath.ToSlash(f.Full(".")), "/")+"/")
	}
	dir, _ := path.Split("/" + typed)
	if len(values) == 0 {
		return nil, nil
	}
	if f, rel, err := set.At(native(dir)); err == nil {
		entries, _, err := f.List(rel)
		if err != nil {
			return values, nil // what is typed is no folder
		}
		for _, e := range entries[:min(len(entries), maxProposed)] {
			name := strings.TrimPrefix(dir, "/") + e.Name
			if e.Type.IsDir() {
				name += "/"
			}
			values = append(values, name)
		}
	}
	return values, nil
}

// refused makes an error whose text reaches the client: package folder writes
// its errors for whoever asked.
func refused(err error) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
}

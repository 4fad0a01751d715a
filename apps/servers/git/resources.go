package git

import (
	"context"
	"errors"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/ferrymcp/ferry/apps/servers/git/repo"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// template is the address of a file at a revision. What has a slash in it, as paths of
// repositories and names of branches may, is escaped, but for the path.
const template = "git://{repository}/{revision}/{+path}"

// maxCompleted is how many values are looked at for a completion.
const maxCompleted = 1000

// addResources lets clients read files as they were at a revision.
func (t *tools) addResources(srv *server.Server) {
	srv.AddResourceTemplate(mcp.ResourceTemplate{
		URITemplate: template,
		Name:        "file at a revision",
		Title:       "File at a revision",
		Description: "A file as it was at a branch, tag or commit. The repository is given by the name of its folder or by its path; HEAD is what is checked out",
		Icons:       icons,
	}, t.read)
	srv.CompleteResource(template, "repository", t.completeRepository)
	srv.CompleteResource(template, "revision", t.completeRevision)
	srv.CompleteResource(template, "path", t.completePath)
}

func (t *tools) read(ctx context.Context, c *server.Call, uri string, vars map[string]string) (*mcp.ReadResourceResult, error) {
	r, err := t.named(ctx, c, vars["repository"])
	if err != nil {
		return nil, refused(err)
	}
	data, err := r.File(ctx, vars["revision"], vars["path"])
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &mcp.ResourceNotFoundError{URI: uri}
	case err != nil:
		return nil, refused(err)
	}
	kind := mime.TypeByExtension(path.Ext(vars["path"]))
	if kind == "" {
		kind = http.DetectContentType(data)
	}
	kind, _, _ = strings.Cut(kind, ";")
	contents := mcp.BlobResource(uri, kind, data)
	if utf8.Valid(data) && !strings.Contains(string(data), "\x00") {
		contents = mcp.TextResource(uri, kind, string(data))
	}
	return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{contents}}, nil
}

// named opens the repository of a name or path.
func (t *tools) named(ctx context.Context, c *server.Call, name string) (*repo.Repo, error) {
	allowed, err := t.allowed(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, dir := range allowed {
		if filepath.Base(dir) == name {
			return t.git.Open(ctx, dir, allowed)
		}
	}
	if !filepath.IsAbs(name) {
		return nil, errors.New("there is no repository of that name: give its path, with every slash as %2F")
	}
	return t.git.Open(ctx, name, allowed)
}

// refused makes an error whose text reaches the client: package repo writes its
// errors for whoever asked.
func refused(err error) error {
	if _, ok := errors.AsType[*server.AnswerError](err); ok || errors.Is(err, server.ErrInputRequired) {
		return err
	}
	if _, ok := errors.AsType[*mcp.MissingCapabilityError](err); ok {
		return err
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
}

func (t *tools) completeRepository(context.Context, *server.Call, string, map[string]string) ([]string, error) {
	var names []string
	for _, dir := range t.repositories {
		names = append(names, filepath.Base(dir))
	}
	return names, nil
}

// open for a completion: a repository that cannot be opened has nothing to propose,
// and a client without a session cannot be asked for its roots then.
func (t *tools) proposing(ctx context.Context, c *server.Call, known map[string]string) *repo.Repo {
	name := known["repository"]
	if name == "" && len(t.repositories) == 1 {
		name = filepath.Base(t.repositories[0])
	}
	r, err := t.named(ctx, c, name)
	if err != nil {
		return nil
	}
	return r
}

func (t *tools) completeRevision(ctx context.Context, c *server.Call, _ string, known map[string]string) ([]string, error) {
	r := t.proposing(ctx, c, known)
	if r == nil {
		return nil, nil
	}
	names, err := r.Names(ctx, maxCompleted)
	if err != nil {
		return nil, refused(err)
	}
	return append([]string{"HEAD"}, names...), nil
}

func (t *tools) completePath(ctx context.Context, c *server.Call, value string, known map[string]string) ([]string, error) {
	r := t.proposing(ctx, c, known)
	if r == nil {
		return nil, nil
	}
	revision := known["revision"]
	if revision == "" {
		revision = "HEAD"
	}
	names, err := r.Paths(ctx, revision, value, maxCompleted)
	if err != nil {
		return nil, refused(err)
	}
	return names, nil
}

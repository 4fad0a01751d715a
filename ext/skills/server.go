package skills

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// Options configures Serve; nil means the defaults.
type Options struct {
	// Prefix is put in front of all paths, such as "acme/billing", which makes
	// skill://acme/billing/refunds/SKILL.md of refunds/SKILL.md. It may be empty.
	Prefix string
	// Frontmatter reads the head of a SKILL.md; nil means ParseFrontmatter.
	Frontmatter FrontmatterParser
	// PageSize is the most elements a result holds; 0 means 100.
	PageSize int
	// TTL is how long clients may keep entries without asking again; 0 means not
	// at all.
	TTL time.Duration
}

const defaultPageSize = 100

// Served are the skills of a server.
type Served struct {
	srv  *server.Server
	fsys fs.FS
	opts Options

	reload sync.Mutex // held while the folder is read and the resources change

	mu  sync.Mutex
	set *set // replaced as a whole
}

// Serve serves the skills below a folder: every folder in it with a SKILL.md is
// one, also inside of another. Their files become resources of srv, and the
// extension is declared. A folder of the system is best opened with os.OpenRoot,
// so that nothing outside of it can be served.
//
// The files are read now and kept in memory, so that what is served is what was
// announced; see Reload. A skill that clients could not load is an error that
// names it: one without a name that is its folder's, without a description, with
// frontmatter that cannot be read, with anything but plain files, or too large.
// Call Serve once for each server. A view of the server that hides a SKILL.md
// hides the skill.
func Serve(srv *server.Server, fsys fs.FS, opts *Options) (*Served, error) {
	s := &Served{srv: srv, fsys: fsys, set: &set{}}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.PageSize <= 0 {
		s.opts.PageSize = defaultPageSize
	}
	if err := s.Reload(); err != nil {
		return nil, err
	}
	srv.Handle(MethodList, s.list)
	srv.Handle(MethodGet, s.get)
	srv.Handle(MethodReadDirectory, s.readDirectory)
	srv.Extend(Extension, Settings{DirectoryRead: true})
	return s, nil
}

// Reload reads the folder again. Clients are told that the resources have
// changed if files came or went, and those who watch a file if it changed. On an
// error all stays as it was.
func (s *Served) Reload() error {
	s.reload.Lock()
	defer s.reload.Unlock()
	next, err := load(s.fsys, s.opts.Prefix, s.opts.Frontmatter)
	if err != nil {
		return err
	}
	old := s.current()
	s.mu.Lock()
	s.set = next
	s.mu.Unlock()
	for uri, c := range next.files {
		before, ok := old.files[uri]
		if !ok || !sameResource(before.resource, c.resource) {
			s.srv.AddResource(c.resource, s.read)
		}
		if ok && before.file != c.file {
			s.srv.ResourceUpdated(uri)
		}
	}
	var gone []string
	for uri := range old.files {
		if _, ok := next.files[uri]; !ok {
			gone = append(gone, uri)
		}
	}
	if len(gone) > 0 {
		s.srv.RemoveResources(gone...)
	}
	return nil
}

func sameResource(a, b mcp.Resource) bool {
	return a.Name == b.Name && a.Description == b.Description && a.MIMEType == b.MIMEType && *a.Size == *b.Size
}

func (s *Served) current() *set {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.set
}

func (s *Served) read(_ context.Context, _ *server.Call, uri string, _ map[string]string) (*mcp.ReadResourceResult, error) {
	f, ok := s.current().files[uri]
	if !ok {
		return nil, &mcp.ResourceNotFoundError{URI: uri}
	}
	result := &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{f.contents()}}
	result.TTLMs = mcp.Ptr(s.opts.TTL.Milliseconds())
	return result, nil
}

func (s *Served) list(_ context.Context, c *server.Call) (any, error) {
	p, err := decode[listParams](c)
	if err != nil {
		return nil, err
	}
	all := s.current().skills
	from, err := after(p.Cursor, len(all), func(i int) string { return all[i].URI })
	if err != nil {
		return nil, err
	}
	result := &listResult{Result: s.result(c), Cache: s.cache(), Skills: []Skill{}}
	for _, skill := range all[from:] {
		if !c.Sees(skill.URI) {
			continue
		}
		if n := len(result.Skills); n == s.opts.PageSize {
			result.NextCursor = cursor(result.Skills[n-1].URI)
			break
		}
		result.Skills = append(result.Skills, skill)
	}
	return result, nil
}

func (s *Served) get(_ context.Context, c *server.Call) (any, error) {
	p, err := decode[getParams](c)
	if err != nil {
		return nil, err
	}
	all := s.current().skills
	i, ok := slices.BinarySearchFunc(all, p.URI, func(s Skill, uri string) int { return strings.Compare(s.URI, uri) })
	if !ok || !c.Sees(p.URI) {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "no skill is served at %q", p.URI)
	}
	return &getResult{Result: s.result(c), Cache: s.cache(), Skill: all[i]}, nil
}

func (s *Served) readDirectory(_ context.Context, c *server.Call) (any, error) {
	p, err := decode[listParams](c)
	if err != nil {
		return nil, err
	}
	set := s.current()
	children, ok := set.folders[p.URI]
	if !ok || !set.shows(c, p.URI) {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "%q is not a directory resource", p.URI)
	}
	seen := slices.DeleteFunc(slices.Clone(children), func(r mcp.Resource) bool { return !set.shows(c, r.URI) })
	from, err := after(p.Cursor, len(seen), func(i int) string { return seen[i].URI })
	if err != nil {
		return nil, err
	}
	result := &directoryResult{Result: s.result(c), Resources: seen[from:]}
	if len(result.Resources) > s.opts.PageSize {
		result.Resources = result.Resources[:s.opts.PageSize]
		result.NextCursor = cursor(result.Resources[s.opts.PageSize-1].URI)
	}
	return result, nil
}

// shows reports whether the caller may see a file, or a folder or anything in it.
func (s *set) shows(c *server.Call, uri string) bool {
	return c.Sees(uri) ||
		slices.ContainsFunc(s.folders[uri], func(r mcp.Resource) bool { return s.shows(c, r.URI) })
}

// result is what all results of the extension have.
func (s *Served) result(c *server.Call) mcp.Result {
	r := mcp.Result{ResultType: mcp.ResultComplete}
	if c.Session() == nil { // the caller has not been told by a handshake
		if err := r.Meta.Set(mcp.MetaServerInfo, s.srv.Info()); err != nil {
			r.Meta = nil
		}
	}
	return r
}

// cache says how long entries may be kept. Who may see them depends on the view.
func (s *Served) cache() mcp.Cache {
	return mcp.Cache{TTLMs: mcp.Ptr(s.opts.TTL.Milliseconds()), CacheScope: mcp.CachePrivate}
}

// decode reads the parameters of a call, which may be absent.
func decode[P any](c *server.Call) (P, error) {
	var p P
	if raw := c.Params(); len(raw) > 0 {
		if err := json.Unmarshal(raw, &p); err != nil {
			return p, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "params of %s: not as the extension defines them", c.Method)
		}
	}
	return p, nil
}

// A cursor is the URI of the last element shown: it stays right when others come
// and go.
const cursorPrefix = "after:"

func cursor(uri string) *string {
	return mcp.Ptr(base64.RawURLEncoding.EncodeToString([]byte(cursorPrefix + uri)))
}

// after returns the index of the first of n elements, sorted by URI, behind the
// cursor.
func after(cursor *string, n int, uri func(int) string) (int, error) {
	if cursor == nil {
		return 0, nil
	}
	text, err := base64.RawURLEncoding.Strict().DecodeString(*cursor)
	last, ok := strings.CutPrefix(string(text), cursorPrefix)
	if err != nil || !ok {
		return 0, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "the cursor is not one of this server")
	}
	for i := range n {
		if uri(i) > last {
			return i, nil
		}
	}
	return n, nil
}

// errServe says which skill cannot be served.
func errServe(dir string, err error) error { return fmt.Errorf("serve the skill %s: %w", dir, err) }

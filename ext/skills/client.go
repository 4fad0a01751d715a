package skills

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
)

// ErrUndeclared tells that a server has not declared the extension, or that it
// does not list folders.
var ErrUndeclared = errors.New("the server has not declared it")

// A VerificationError tells that an entry or a file is not what it should be:
// corrupt, changed since the entry was made, or tampered with. It must not be
// used. If the skill may have changed, Get a new entry, and ask the user again.
type VerificationError struct {
	// URI is the resource of the file, or that of the skill.
	URI string
	// Reason says what is wrong.
	Reason string
}

// Error returns the URI and the reason.
func (e *VerificationError) Error() string { return fmt.Sprintf("verify %s: %s", e.URI, e.Reason) }

// ReadOptions configures Read; nil means the defaults.
type ReadOptions struct {
	// Frontmatter reads the head of SKILL.md; nil means ParseFrontmatter.
	Frontmatter FrontmatterParser
	// Call is handed on to the session.
	Call *client.CallOptions
}

// maxPages bounds how many pages of one list are asked for.
const maxPages = 10_000

// List goes through the entries that the server lists, page by page as they are
// needed. It reads no files. A server may have skills that it does not list, see
// Get. Entries are as they came: Check them before they are used. The first
// error is yielded and ends it; it wraps ErrUndeclared for a server without the
// extension.
func List(ctx context.Context, sess *client.Session) iter.Seq2[*Skill, error] {
	return func(yield func(*Skill, error) bool) {
		if _, ok := Declared(sess.ServerCapabilities()); !ok {
			yield(nil, fmt.Errorf("%s: %w", MethodList, ErrUndeclared))
			return
		}
		for page, err := range pages[listResult](ctx, sess, MethodList, &listParams{}) {
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range page.Skills {
				if !yield(&page.Skills[i], nil) {
					return
				}
			}
		}
	}
}

// Get returns the entry of the skill whose SKILL.md has the URI, listed or not.
// It reads no files. The error wraps ErrUndeclared for a server without the
// extension.
func Get(ctx context.Context, sess *client.Session, uri string) (*Skill, error) {
	if _, ok := Declared(sess.ServerCapabilities()); !ok {
		return nil, fmt.Errorf("%s: %w", MethodGet, ErrUndeclared)
	}
	raw, err := sess.Call(ctx, MethodGet, &getParams{URI: uri}, nil)
	if err != nil {
		return nil, err
	}
	var result getResult
	if err := json.Unmarshal(raw, &result); err != nil {
		return nil, fmt.Errorf("result of %s: %w", MethodGet, err)
	}
	if result.Skill.URI != uri {
		return nil, fmt.Errorf("result of %s: an entry for %q, asked for %q", MethodGet, result.Skill.URI, uri)
	}
	return &result.Skill, nil
}

// Read reads one file of a skill and verifies it: the entry has to be sound and
// has to list the file, size and digest have to be right, and the head of the
// skill's own SKILL.md has to be that of the entry. Of a dynamic skill only the
// head can be verified. What is wrong is a *VerificationError. Nothing is kept;
// a host holds the entry as long as it acts on the skill.
func Read(ctx context.Context, sess *client.Session, skill *Skill, uri string, opts *ReadOptions) ([]byte, error) {
	if opts == nil {
		opts = &ReadOptions{}
	}
	if err := skill.Check(); err != nil {
		return nil, err
	}
	file, listed := skill.find(uri)
	if !listed && !skill.inside(uri) {
		return nil, &VerificationError{URI: uri, Reason: "it is not a file of " + skill.URI}
	}
	result, err := sess.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri}, opts.Call)
	if err != nil {
		return nil, err
	}
	if len(result.Contents) != 1 || result.Contents[0].URI != uri {
		return nil, &VerificationError{URI: uri, Reason: "the server answered with other resources"}
	}
	data := result.Contents[0].Blob
	if data == nil {
		data = []byte(result.Contents[0].Text)
	}
	if err := skill.verify(file, uri, data, opts.Frontmatter); err != nil {
		return nil, &VerificationError{URI: uri, Reason: err.Error()}
	}
	return data, nil
}

// inside reports whether a file may belong to a dynamic skill.
func (s *Skill) inside(uri string) bool {
	root := s.Root() + "/"
	return s.Dynamic && len(uri) > len(root) && uri[:len(root)] == root && !leaves(uri[len(root):])
}

func (s *Skill) verify(file File, uri string, data []byte, parse FrontmatterParser) error {
	if !s.Dynamic {
		if int64(len(data)) != file.Size {
			return fmt.Errorf("%d bytes, %d are listed", len(data), file.Size)
		}
		if got := digest(data); got != file.Digest {
			return fmt.Errorf("the digest is %s, %s is listed", got, file.Digest)
		}
	}
	if uri != s.URI {
		return nil
	}
	head, err := frontmatter(data, parse)
	if err != nil {
		return err
	}
	return sameFrontmatter(head, s.Frontmatter)
}

// ReadDirectory goes through what a folder holds, files and folders, page by page
// as they are needed. It does not add to the files of an entry: those alone may
// be read. The first error is yielded and ends it; it wraps ErrUndeclared for a
// server that does not list folders.
func ReadDirectory(ctx context.Context, sess *client.Session, uri string) iter.Seq2[mcp.Resource, error] {
	return func(yield func(mcp.Resource, error) bool) {
		if settings, _ := Declared(sess.ServerCapabilities()); !settings.DirectoryRead {
			yield(mcp.Resource{}, fmt.Errorf("%s: %w", MethodReadDirectory, ErrUndeclared))
			return
		}
		for page, err := range pages[directoryResult](ctx, sess, MethodReadDirectory, &listParams{URI: uri}) {
			if err != nil {
				yield(mcp.Resource{}, err)
				return
			}
			for _, r := range page.Resources {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// pages asks for one page after the other. A server that gives a cursor twice
// would never come to an end, so that is an error.
func pages[R any, P interface {
	*R
	next() *string
}](ctx context.Context, sess *client.Session, method string, params *listParams) iter.Seq2[*R, error] {
	return func(yield func(*R, error) bool) {
		seen := map[string]bool{}
		for range maxPages {
			raw, err := sess.Call(ctx, method, params, nil)
			if err != nil {
				yield(nil, err)
				return
			}
			page := new(R)
			if err := json.Unmarshal(raw, page); err != nil {
				yield(nil, fmt.Errorf("result of %s: %w", method, err))
				return
			}
			cursor := P(page).next()
			if !yield(page, nil) || cursor == nil {
				return
			}
			if seen[*cursor] {
				yield(nil, fmt.Errorf("result of %s: the cursor %q came twice", method, *cursor))
				return
			}
			seen[*cursor] = true
			params = &listParams{URI: params.URI, Cursor: cursor}
		}
		yield(nil, fmt.Errorf("%s: more than %d pages", method, maxPages))
	}
}

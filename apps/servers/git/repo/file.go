package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// File reads a file as it was at a revision. One that is not there is fs.ErrNotExist.
func (r *Repo) File(ctx context.Context, revision, path string) ([]byte, error) {
	id, err := r.commit(ctx, "revision", revision)
	if err != nil {
		return nil, err
	}
	if path, err = r.relative(path); err != nil {
		return nil, err
	}
	object := id + ":" + path
	kind, err := r.text(ctx, "cat-file", "-t", object)
	if _, ok := errors.AsType[*CommandError](err); ok {
		return nil, fmt.Errorf("%q at %q: %w", clip(path), clip(revision), fs.ErrNotExist)
	} else if err != nil {
		return nil, err
	}
	if kind != "blob" {
		return nil, fmt.Errorf("%q at %q is not a file but a %s", clip(path), clip(revision), kind)
	}
	text, err := r.text(ctx, "cat-file", "-s", object)
	if err != nil {
		return nil, err
	}
	most := r.git.limits.File
	if size, err := strconv.ParseInt(text, 10, 64); err != nil || size > most {
		return nil, fmt.Errorf("%q at %q has %s bytes, and at most %d are read", clip(path), clip(revision), text, most)
	}
	var out bytes.Buffer
	err = r.run(ctx, process{args: []string{"cat-file", "blob", object}, out: &bounded{to: &out, most: int(most)}})
	return out.Bytes(), err
}

// Paths lists files at a revision whose paths begin with a text, as many as there may
// be at most.
func (r *Repo) Paths(ctx context.Context, revision, prefix string, most int) ([]string, error) {
	id, err := r.commit(ctx, "revision", revision)
	if err != nil {
		return nil, err
	}
	found := &matching{prefix: prefix, most: most}
	err = r.run(ctx, process{args: []string{"ls-tree", "-r", "-z", "--name-only", "--full-tree", id}, out: found})
	return found.list, err
}

// matching keeps names that begin with a text. They end in zero bytes.
type matching struct {
	prefix string
	most   int
	rest   []byte
	list   []string
}

func (m *matching) Write(b []byte) (int, error) {
	m.rest = append(m.rest, b...)
	for {
		i := bytes.IndexByte(m.rest, 0)
		if i < 0 {
			return len(b), nil
		}
		name := string(m.rest[:i])
		m.rest = m.rest[i+1:]
		if strings.HasPrefix(name, m.prefix) {
			if m.list = append(m.list, name); len(m.list) >= m.most {
				return len(b), errFull
			}
		}
	}
}

package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/ferrymcp/ferry/apps/servers/memory/graph"
)

// MaxFile is the largest file that is read.
const MaxFile = 256 << 20

// A File keeps a graph as JSON lines. A change writes a new file beside the old one,
// under a lock that all processes know, and gives it the old one's name: whoever
// reads sees one or the other.
type File struct {
	path string

	mu   sync.Mutex // guards what follows, and is held while the graph is changed
	seen *os.File   // what doc was read from; nil at first. Held open, so that no other file gets its number.
	info fs.FileInfo
	doc  graph.Document
	sum  uint64 // of what doc was read from; 0 for nothing
}

// seed is for sums, which never leave the process.
var seed = maphash.MakeSeed()

// OpenFile returns the store in a file, which need not exist: it, and its folder,
// are made when there is something to keep.
func OpenFile(name string) (*File, error) {
	full, err := filepath.Abs(name)
	if err != nil {
		return nil, fmt.Errorf("memory file %s: %w", name, err)
	}
	// A link is followed once, here: a change would put a file in its place.
	for range 40 {
		target, err := os.Readlink(full)
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(full), target)
		}
		full = target
	}
	info, err := os.Stat(full)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return nil, fmt.Errorf("memory file %s is not a plain file", full)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("memory file: %w", err)
	}
	return &File{path: full}, nil
}

// Path is the file.
func (f *File) Path() string { return f.path }

// Close lets go of the file.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forgetLocked()
	return nil
}

// forgetLocked drops what was read.
func (f *File) forgetLocked() {
	if f.seen != nil {
		_ = f.seen.Close() // it was only read
	}
	f.seen, f.info, f.doc, f.sum = nil, nil, graph.Document{}, 0
}

// Stamp tells contents apart.
func (f *File) Stamp(context.Context) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := f.loadLocked(); err != nil {
		return "", err
	}
	return strconv.FormatUint(f.sum, 16), nil
}

// loadLocked returns what is in the file, which is read only if it is another one
// than before.
func (f *File) loadLocked() (graph.Document, error) {
	now, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.forgetLocked()
		return graph.Parse(nil), nil
	case err != nil:
		return graph.Document{}, f.broken(err)
	case f.seen != nil && same(f.info, now):
		return f.doc, nil
	}
	f.forgetLocked()
	file, info, err := f.open()
	if errors.Is(err, fs.ErrNotExist) {
		return graph.Parse(nil), nil
	}
	if err != nil {
		return graph.Document{}, f.broken(err)
	}
	data, err := io.ReadAll(io.LimitReader(file, MaxFile+1))
	if err == nil && len(data) > MaxFile {
		err = fmt.Errorf("it has over %d MiB", MaxFile>>20)
	}
	if err != nil {
		return graph.Document{}, errors.Join(f.broken(err), file.Close())
	}
	f.doc, f.info, f.sum = graph.Parse(data), info, maphash.Bytes(seed, data)
	return f.doc, f.holdLocked(file)
}

// open opens the file, which must be a plain one.
func (f *File) open() (*os.File, fs.FileInfo, error) {
	file, err := os.OpenFile(f.path, os.O_RDONLY|nonblocking, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a plain file")
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

// same reports whether a file is still the one that was read.
func same(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// broken tells that the file cannot be read.
func (f *File) broken(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	return fmt.Errorf("read the memory file %s: %w", f.path, err)
}

// Read returns the whole graph.
func (f *File) Read(context.Context) (graph.Graph, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	doc, err := f.loadLocked()
	return doc.Graph, err
}

// Search finds entities by a text in them.
func (f *File) Search(ctx context.Context, text string) (graph.Graph, error) {
	g, err := f.Read(ctx)
	return g.Search(text), err
}

// Open finds entities by name.
func (f *File) Open(ctx context.Context, names []string) (graph.Graph, error) {
	g, err := f.Read(ctx)
	return g.Open(names), err
}

// CreateEntities adds entities.
func (f *File) CreateEntities(ctx context.Context, entities []graph.Entity) (added []graph.Entity, err error) {
	err = f.change(ctx, func(g graph.Graph) (graph.Graph, error) {
		g, added = g.CreateEntities(entities)
		return g, nil
	})
	return added, err
}

// CreateRelations adds relations.
func (f *File) CreateRelations(ctx context.Context, relations []graph.Relation) (added []graph.Relation, err error) {
	err = f.change(ctx, func(g graph.Graph) (graph.Graph, error) {
		g, added = g.CreateRelations(relations)
		return g, nil
	})
	return added, err
}

// AddObservations adds observations.
func (f *File) AddObservations(ctx context.Context, additions []graph.Addition) (added []graph.Added, err error) {
	err = f.change(ctx, func(g graph.Graph) (_ graph.Graph, err error) {
		g, added, err = g.AddObservations(additions)
		return g, err
	})
	return added, err
}

// DeleteEntities takes entities away.
func (f *File) DeleteEntities(ctx context.Context, names []string) error {
	return f.change(ctx, func(g graph.Graph) (graph.Graph, error) { return g.DeleteEntities(names), nil })
}

// DeleteObservations takes observations away.
func (f *File) DeleteObservations(ctx context.Context, deletions []graph.Deletion) error {
	return f.change(ctx, func(g graph.Graph) (graph.Graph, error) { return g.DeleteObservations(deletions), nil })
}

// DeleteRelations takes relations away.
func (f *File) DeleteRelations(ctx context.Context, relations []graph.Relation) error {
	return f.change(ctx, func(g graph.Graph) (graph.Graph, error) { return g.DeleteRelations(relations), nil })
}

// Import adds another graph.
func (f *File) Import(ctx context.Context, other graph.Graph) error {
	return f.change(ctx, func(g graph.Graph) (graph.Graph, error) { return merge(g, other) })
}

// errMoved tells that somebody who does not know the lock has changed the file.
var errMoved = errors.New("the file was changed meanwhile")

// change makes another graph of the one that is there, and keeps it.
func (f *File) change(ctx context.Context, fn func(graph.Graph) (graph.Graph, error)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return fmt.Errorf("make the folder of the memory: %w", err)
	}
	held, err := lock(ctx, f.path+".lock")
	if err != nil {
		return err
	}
	defer func() { _ = held.Close() }() // which cannot fail in a way that matters
	for range 100 {
		err := f.changeLocked(fn)
		if !errors.Is(err, errMoved) {
			return err
		}
	}
	return fmt.Errorf("another program changes %s all the time: end it, and try again", f.path)
}

func (f *File) changeLocked(fn func(graph.Graph) (graph.Graph, error)) error {
	doc, err := f.loadLocked()
	if err != nil {
		return err
	}
	changed, err := fn(doc.Graph)
	if err != nil || changed.Equal(doc.Graph) {
		return err
	}
	doc.Graph = changed
	data, err := doc.Append(nil)
	switch {
	case err != nil:
		return err
	case len(data) > MaxFile:
		return fmt.Errorf("the memory would have over %d MiB: delete what is not needed any more", MaxFile>>20)
	}
	file, info, err := f.replaceLocked(data)
	if err != nil {
		return err
	}
	f.forgetLocked()
	f.doc, f.info, f.sum = doc, info, maphash.Bytes(seed, data)
	return f.holdLocked(file)
}

// replaceLocked writes a new file and gives it the name of the old one.
func (f *File) replaceLocked(data []byte) (file *os.File, info fs.FileInfo, err error) {
	f.sweepLocked()
	mode := fs.FileMode(0o600)
	if f.info != nil {
		mode = f.info.Mode().Perm()
	}
	temp := f.temp() + rand.Text() + tempEnd
	file, err = os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("keep the memory: %w", err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("keep the memory: %w", errors.Join(err, file.Close(), os.Remove(temp)))
		}
	}()
	if err := writeWhole(file, data, mode); err != nil {
		return nil, nil, err
	}
	if info, err = file.Stat(); err != nil {
		return nil, nil, err
	}
	now, err := os.Stat(f.path)
	if (err == nil) != (f.info != nil) || err == nil && !same(f.info, now) {
		_ = file.Close()
		_ = os.Remove(temp)
		return nil, nil, errMoved
	}
	if err := closeBeforeRename(file); err != nil {
		return nil, nil, err
	}
	if err := os.Rename(temp, f.path); err != nil {
		return nil, nil, err
	}
	return file, info, syncDir(filepath.Dir(f.path))
}

// writeWhole writes a file so that it is there after a loss of power.
func writeWhole(file *os.File, data []byte, mode fs.FileMode) error {
	_ = file.Chmod(mode) // where it fails, nobody else can read the file
	if _, err := file.Write(data); err != nil {
		return err
	}
	return file.Sync()
}

// tempEnd ends the names of new files that have not got their own name yet.
const tempEnd = ".tmp"

// temp begins those names.
func (f *File) temp() string {
	return filepath.Join(filepath.Dir(f.path), "."+filepath.Base(f.path)+".")
}

// sweepLocked removes what processes that were killed have left. The lock is held,
// so nobody writes such a file now.
func (f *File) sweepLocked() {
	entries, err := os.ReadDir(filepath.Dir(f.path))
	if err != nil {
		return // what is left is in nobody's way
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(f.temp())) && strings.HasSuffix(e.Name(), tempEnd) && e.Type().IsRegular() {
			_ = os.Remove(filepath.Join(filepath.Dir(f.path), e.Name()))
		}
	}
}

package folder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// A Walk says how to go through a folder.
type Walk struct {
	// Exclude are patterns for what to pass over, with what is below it.
	Exclude []string
	// Gitignore passes over what the .gitignore files of the folder and of those below
	// it say, and .git.
	Gitignore bool
	// Progress is told how many names were seen, now and then, from several goroutines;
	// nil tells nobody.
	Progress func(seen int)
}

// check refuses what costs too much.
func (w *Walk) check() error {
	if len(w.Exclude) > maxExcluded {
		return fmt.Errorf("over %d patterns say what to leave out: join some with braces, as in {a,b}", maxExcluded)
	}
	return nil
}

// maxDepth bounds how deep a walk goes.
const maxDepth = 100

// maxExcluded bounds how many patterns say what to pass over.
const maxExcluded = 100

// progressStep is after how many names progress is told.
const progressStep = 2000

// A Cut tells why a walk did not see everything; empty if it did.
type Cut string

// errStop ends a walk from inside.
var errStop = errors.New("stop")

// A listing is what is in a folder, by name, and what is below each part of it.
type listing struct {
	entries []Entry
	below   []*listing // one for each entry; nil for what is no folder
}

// A scan reads a folder and all below it, several folders at the same time. Each is
// opened from the one above it, so that no step of a path is walked twice.
type scan struct {
	ctx      context.Context // of one call
	walk     Walk
	excluded func(rel string) bool
	limit    int64
	workers  chan struct{}
	wg       sync.WaitGroup // one for each folder that is read beside others
	seen     atomic.Int64
	full     atomic.Bool // over the limit
	deep     atomic.Bool // over maxDepth
}

// scan reads what is below a folder.
func (f *Folder) scan(ctx context.Context, start string, walk Walk, excluded func(string) bool) (*listing, Cut, error) {
	if info, err := f.stat(start); err != nil {
		return nil, "", err
	} else if !info.IsDir() {
		return nil, "", fmt.Errorf("%s is not a folder: get_file_info tells what it is", Quote(start))
	}
	root, err := f.root.OpenRoot(filepath.FromSlash(start))
	if err != nil {
		return nil, "", f.explain(start, err)
	}
	s := &scan{
		ctx: ctx, walk: walk, excluded: excluded,
		limit: int64(f.limits.Visits), workers: make(chan struct{}, runtime.GOMAXPROCS(0)),
	}
	list, err := s.read(root, ".", nil, 1)
	s.wg.Wait()
	switch {
	case ctx.Err() != nil:
		return nil, "", context.Cause(ctx)
	case err != nil:
		return nil, "", f.explain(start, err)
	case s.full.Load():
		return list, Cut(fmt.Sprintf("only the first %d files and folders were looked at: choose a folder further down", s.limit)), nil
	case s.deep.Load():
		return list, Cut(fmt.Sprintf("folders more than %d deep were left out", maxDepth)), nil
	}
	return list, "", nil
}

// read reads one folder, and those below it. It closes root.
func (s *scan) read(root *os.Root, rel string, rules *ignoreRules, depth int) (*listing, error) {
	defer func() { _ = root.Close() }() // it was only read
	entries, err := entriesOf(root)
	if err != nil {
		return nil, err
	}
	if s.walk.Gitignore {
		rules = rules.with(root, rel, entries)
	}
	kept := entries[:0]
	for _, e := range entries {
		name := join(rel, e.Name)
		if s.excluded != nil && s.excluded(name) || s.walk.Gitignore && rules.ignored(name, e.Type.IsDir()) {
			continue
		}
		kept = append(kept, e)
	}
	kept = kept[:s.count(len(kept))]
	list := &listing{entries: kept, below: make([]*listing, len(kept))}
	for i, e := range kept {
		switch {
		case s.ctx.Err() != nil || s.full.Load():
			return list, nil
		case !e.Type.IsDir():
			continue
		case depth >= maxDepth:
			s.deep.Store(true)
			continue
		}
		// What vanishes or may not be read is passed over.
		sub, err := root.OpenRoot(e.Name)
		if err != nil {
			continue
		}
		into, name := &list.below[i], join(rel, e.Name)
		select {
		case s.workers <- struct{}{}:
			s.wg.Go(func() {
				*into, _ = s.read(sub, name, rules, depth+1)
				<-s.workers
			})
		default:
			*into, _ = s.read(sub, name, rules, depth+1)
		}
	}
	return list, nil
}

// count counts names, tells of them, and returns how many of them may be kept.
func (s *scan) count(n int) int {
	seen := s.seen.Add(int64(n))
	if over := seen - s.limit; over > 0 {
		s.full.Store(true)
		return max(0, n-int(over))
	}
	if s.walk.Progress != nil && seen/progressStep != (seen-int64(n))/progressStep {
		s.walk.Progress(int(seen))
	}
	return n
}

// entriesOf reads a folder, sorted by name.
func entriesOf(root *os.Root) ([]Entry, error) {
	dir, err := root.OpenFile(".", nonblocking, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }() // it was only read
	read, err := dir.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, len(read))
	for i, e := range read {
		entries[i] = Entry{e.Name(), e.Type()}
	}
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return entries, nil
}

// visit goes through what was read, in the order of names.
func (l *listing) visit(rel string, fn func(rel string, e Entry) error) error {
	if l == nil {
		return nil
	}
	for i, e := range l.entries {
		name := join(rel, e.Name)
		if err := fn(name, e); err != nil {
			return err
		}
		if err := l.below[i].visit(name, fn); err != nil {
			return err
		}
	}
	return nil
}

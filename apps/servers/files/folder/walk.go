package folder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// maxDepth bounds how deep a walk goes.
const maxDepth = 100

// An Entry is one name in a folder. Links are not followed.
type Entry struct {
	Name string
	Type fs.FileMode // type bits
}

// List lists a folder, sorted by name, and tells how many more there are.
func (f *Folder) List(name string) (entries []Entry, more int, err error) {
	rel, err := f.relative(name)
	if err != nil {
		return nil, 0, err
	}
	entries, err = f.entries(rel)
	if err != nil {
		return nil, 0, err
	}
	if n := len(entries); n > f.limits.Results {
		return entries[:f.limits.Results], n - f.limits.Results, nil
	}
	return entries, 0, nil
}

// entries reads a folder, sorted by name.
func (f *Folder) entries(rel string) ([]Entry, error) {
	info, err := f.stat(rel)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder: get_file_info tells what it is", Quote(rel))
	}
	dir, err := f.root.OpenFile(rel, nonblocking, 0)
	if err != nil {
		return nil, f.explain(rel, err)
	}
	defer dir.Close()
	read, err := dir.ReadDir(-1)
	if err != nil {
		return nil, f.explain(rel, err)
	}
	entries := make([]Entry, len(read))
	for i, e := range read {
		entries[i] = Entry{e.Name(), e.Type()}
	}
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return entries, nil
}

// A Cut tells why a walk did not see everything; empty if it did.
type Cut string

// errStop ends a walk from inside.
var errStop = errors.New("stop")

// walker goes through a folder and what is below it, in the order of names.
type walker struct {
	*Folder
	exclude []string
	visits  int
	cut     Cut
	// visit is called with the path from the walk's start. It returns
	// fs.SkipDir to pass over a folder and errStop to end the walk.
	visit func(rel string, e Entry) error
}

// walk goes through what is below a folder.
func (f *Folder) walk(ctx context.Context, start string, exclude []string, visit func(rel string, e Entry) error) (Cut, error) {
	if len(exclude) > maxExcluded {
		return "", fmt.Errorf("over %d patterns say what to leave out: join some with braces, as in {a,b}", maxExcluded)
	}
	for _, pattern := range exclude {
		if err := checkPattern(pattern); err != nil {
			return "", err
		}
	}
	w := &walker{Folder: f, exclude: exclude, visit: visit}
	entries, err := f.entries(start)
	if err != nil {
		return "", err
	}
	err = w.below(ctx, start, ".", entries, 1)
	if errors.Is(err, errStop) {
		err = nil
	}
	return w.cut, err
}

// below visits the entries of a folder and what is below them. Folders that
// cannot be read are passed over: they may vanish at any time.
func (w *walker) below(ctx context.Context, start, rel string, entries []Entry, depth int) error {
	for _, e := range entries {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if w.visits++; w.visits > w.limits.Visits {
			w.cut = Cut(fmt.Sprintf("only the first %d files and folders were looked at: choose a folder further down", w.limits.Visits))
			return errStop
		}
		name := join(rel, e.Name)
		if w.excluded(name) {
			continue
		}
		err := w.visit(name, e)
		switch {
		case errors.Is(err, fs.SkipDir):
			continue
		case err != nil:
			return err
		case !e.Type.IsDir():
			continue
		case depth >= maxDepth:
			w.cut = Cut(fmt.Sprintf("folders more than %d deep were left out", maxDepth))
			continue
		}
		inner, err := w.entries(join(start, name))
		if err != nil {
			continue
		}
		if err := w.below(ctx, start, name, inner, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// excluded reports whether one of the patterns takes a path out. A pattern
// without a slash is for names anywhere, one with a slash for paths.
func (w *walker) excluded(rel string) bool {
	for _, pattern := range w.exclude {
		if doublestar.MatchUnvalidated(pattern, rel) {
			return true
		}
		if !strings.Contains(pattern, "/") && doublestar.MatchUnvalidated(pattern, path.Base(rel)) {
			return true
		}
	}
	return false
}

const (
	// maxPattern bounds a pattern's length.
	maxPattern = 1024
	// maxBraces bounds how deep matching goes into itself.
	maxBraces = 8
	// maxAlternatives bounds how many patterns one with braces stands for: each
	// of them is tried on each name, and nothing can stop that.
	maxAlternatives = 256
	// maxExcluded bounds how many patterns say what to pass over.
	maxExcluded = 100
)

// checkPattern refuses patterns that are wrong or cost too much.
func checkPattern(pattern string) error {
	switch {
	case pattern == "":
		return errors.New("the pattern is empty: * stands for any name, **/*.txt for text files in all folders")
	case len(pattern) > maxPattern:
		return fmt.Errorf("the pattern is over %d bytes", maxPattern)
	case strings.Count(pattern, "{") > maxBraces:
		return fmt.Errorf("the pattern has over %d braces", maxBraces)
	case alternatives(pattern) > maxAlternatives:
		return fmt.Errorf("the braces of the pattern stand for over %d patterns: use fewer of them, or fewer alternatives in them", maxAlternatives)
	case !doublestar.ValidatePattern(pattern):
		return fmt.Errorf("%s is not a valid pattern: * stands for any name, ** for any folders, {a,b} for a or b, [ab] for a character", Quote(pattern))
	}
	return nil
}

// alternatives is how many patterns without braces a pattern stands for, or
// more; it stops to count over the limit.
func alternatives(pattern string) int {
	total := 1
	var open []int // the alternatives in each brace that is open
	for i := 0; i < len(pattern); i++ {
		switch last := len(open) - 1; pattern[i] {
		case '\\':
			i++
		case '[':
			i = classEnd(pattern, i+1)
		case '{':
			open = append(open, 1)
		case ',':
			if last >= 0 {
				open[last]++
			}
		case '}':
			if last >= 0 {
				total = min(total*open[last], maxAlternatives+1)
				open = open[:last]
			}
		}
	}
	return total
}

// classEnd is where the class of characters ends that began before i.
func classEnd(pattern string, i int) int {
	for i < len(pattern) && pattern[i] != ']' {
		if pattern[i] == '\\' {
			i++
		}
		i++
	}
	return i
}

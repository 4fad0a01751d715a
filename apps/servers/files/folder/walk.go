package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

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
	root, err := f.root.OpenRoot(rel)
	if err != nil {
		return nil, f.explain(rel, err)
	}
	defer func() { _ = root.Close() }() // it was only read
	entries, err := entriesOf(root)
	if err != nil {
		return nil, f.explain(rel, err)
	}
	return entries, nil
}

const (
	// maxPattern bounds a pattern's length.
	maxPattern = 1024
	// maxBraces bounds how deep matching goes into itself.
	maxBraces = 8
	// maxAlternatives bounds how many patterns one with braces stands for: each
	// of them is tried on each name, and nothing can stop that.
	maxAlternatives = 256
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

package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
)

// A Set is the folders that may be used. Paths are absolute and inside one of them,
// or relative to the first.
type Set struct{ list []*Folder }

// OpenSet opens folders. Those that cannot be opened are left out and told in the
// error; the set is nil if there are none left. Whoever opens it closes it. Sets with
// the same lock do not get in each other's way when they replace files; nil is a lock
// of its own.
func OpenSet(dirs []string, limits Limits, writing *sync.Mutex) (*Set, error) {
	if writing == nil {
		writing = new(sync.Mutex)
	}
	s := &Set{}
	var problems []error
	for _, dir := range dirs {
		f, err := Open(dir, limits)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		f.writing = writing
		s.list = append(s.list, f)
	}
	if len(s.list) == 0 {
		s = nil
	}
	return s, errors.Join(problems...)
}

// Close gives the folders back. It may be called again.
func (s *Set) Close() error {
	var errs []error
	for _, f := range s.list {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// Folders are the folders.
func (s *Set) Folders() []*Folder { return s.list }

// Dirs are the paths of the folders: as they were given and, where that is another
// one, without links.
func (s *Set) Dirs() []string {
	var dirs []string
	for _, f := range s.list {
		dirs = append(dirs, f.dir)
		if f.real != f.dir {
			dirs = append(dirs, f.real)
		}
	}
	return dirs
}

// At finds the folder that a path is in, and the path in it. Links that lead out of
// one folder are followed if they lead into one of the set; the system is asked again
// when the path is used, so that what happens in between is harmless.
func (s *Set) At(name string) (*Folder, string, error) {
	f, rel, err := s.lexical(name)
	for range 40 {
		if err != nil {
			return nil, "", err
		}
		if _, stat := f.root.Stat(filepath.FromSlash(rel)); !escapes(stat) {
			return f, rel, nil
		}
		target, ok := f.leadsTo(rel)
		if !ok {
			return f, rel, nil // it has changed: the system decides
		}
		if f, rel, err = s.lexical(target); err != nil {
			err = fmt.Errorf("access denied - symlink target outside allowed directories: %s leads to %s, not in %s: use a path inside them",
				Quote(name), Quote(target), strings.Join(s.Dirs(), ", "))
		}
	}
	return nil, "", fmt.Errorf("%s: too many links that lead to one another", Quote(name))
}

// Stat looks at what a path leads to, through links that stay in the set.
func (s *Set) Stat(name string) (fs.FileInfo, error) {
	f, rel, err := s.At(name)
	if err != nil {
		return nil, err
	}
	return f.stat(rel)
}

// lexical finds the folder by the text of a path alone.
func (s *Set) lexical(name string) (*Folder, string, error) {
	switch {
	case name == "":
		return nil, "", errors.New(`the path is empty: give a path such as "notes.txt", or "." for the folder itself`)
	case strings.ContainsRune(name, 0):
		return nil, "", errors.New("the path holds a zero byte: no file has such a name")
	}
	full := filepath.FromSlash(expandHome(name))
	if !filepath.IsAbs(full) {
		full = filepath.Join(s.list[0].dir, full)
	}
	full = filepath.Clean(full)
	var found *Folder
	best, length := "", -1
	for _, f := range s.list {
		for _, dir := range []string{f.dir, f.real} {
			if rel, ok := within(dir, full); ok && len(dir) > length {
				found, best, length = f, rel, len(dir)
			}
		}
	}
	if found == nil {
		return nil, "", fmt.Errorf("access denied - path outside allowed directories: %s not in %s: use a path inside them",
			Quote(full), strings.Join(s.Dirs(), ", "))
	}
	return found, filepath.ToSlash(best), nil
}

// expandHome puts the user's folder in the place of "~".
func expandHome(name string) string {
	if name != "~" && !strings.HasPrefix(name, "~/") {
		return name
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return name
	}
	return filepath.Join(home, name[1:])
}

// escapes reports whether the system found that a path leads out.
func escapes(err error) bool {
	return err != nil && strings.Contains(err.Error(), "escapes from parent") // the error has no name in package os
}

// leadsTo follows the first link in a path, by its text, and returns where the whole
// path leads then.
func (f *Folder) leadsTo(rel string) (string, bool) {
	parts := strings.Split(rel, "/")
	for i := range parts {
		at := path.Join(parts[:i+1]...)
		info, err := f.root.Lstat(filepath.FromSlash(at))
		if err != nil {
			return "", false
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		target, err := f.root.Readlink(filepath.FromSlash(at))
		if err != nil {
			return "", false
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(f.real, filepath.FromSlash(path.Dir(at)), target)
		}
		return filepath.Join(append([]string{target}, parts[i+1:]...)...), true
	}
	return "", false
}

// Full is the absolute path of a path in the folder, without links in the way to the
// folder.
func (f *Folder) Full(rel string) string { return filepath.Join(f.real, filepath.FromSlash(rel)) }

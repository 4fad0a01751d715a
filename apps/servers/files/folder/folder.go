// Package folder gives access to the files of one folder and to nothing
// outside it.
//
// Every operation goes through an [os.Root], so the operating system decides at
// each step of a path whether it leaves the folder: links that lead out and
// folders that are swapped while in use are refused, not only text with "..".
// Files that are not plain files are refused before they are opened, because
// opening a pipe or a device can block or do things.
//
// Errors are written for a model to read: they say what to do next.
package folder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// A Folder is a folder with the limits for its use. Its methods may be called
// concurrently. Paths are relative to the folder, or absolute and inside it.
type Folder struct {
	root   *os.Root
	dir    string // absolute, as it was given
	real   string // absolute, without links
	limits Limits

	// writing is held while a file is replaced, so that two edits of one file
	// do not lose one another.
	writing *sync.Mutex
}

// Limits bound what one call can cost. Zero fields mean the defaults.
type Limits struct {
	// Text is the most bytes of text that one call returns; 16 MiB.
	Text int64
	// File is the largest file that is read as a whole or edited; 64 MiB.
	File int64
	// Media is the largest file that is returned as bytes; 16 MiB.
	Media int64
	// Results is the most entries or matches that one call returns; 200,000.
	Results int
	// Visits is the most files and folders that one call looks at; 1,000,000.
	Visits int
}

func (l Limits) withDefaults() Limits {
	set := func(field *int64, value int64) {
		if *field <= 0 {
			*field = value
		}
	}
	set(&l.Text, 16<<20)
	set(&l.File, 64<<20)
	set(&l.Media, 16<<20)
	if l.Results <= 0 {
		l.Results = 200_000
	}
	if l.Visits <= 0 {
		l.Visits = 1_000_000
	}
	return l
}

// Open opens a folder. Whoever opens it closes it.
func Open(dir string, limits Limits) (*Folder, error) {
	full, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open folder %s: %w", dir, err)
	}
	root, err := os.OpenRoot(full)
	if err != nil {
		return nil, fmt.Errorf("open folder: %w", err)
	}
	real, err := filepath.EvalSymlinks(full)
	if err != nil {
		real = full
	}
	return &Folder{root: root, dir: full, real: real, limits: limits.withDefaults(), writing: new(sync.Mutex)}, nil
}

// Close gives the folder back. Calls after it fail. It may be called again.
func (f *Folder) Close() error { return f.root.Close() }

// Dir is the absolute path of the folder, as it was given.
func (f *Folder) Dir() string { return f.dir }

// MaxText is the most bytes of text that one call returns.
func (f *Folder) MaxText() int64 { return f.limits.Text }

// relative turns a path into one that is relative to the folder, with forward
// slashes and without "..". It looks at the text only; that no link leads out
// is for the root to see.
func (f *Folder) relative(name string) (string, error) {
	switch {
	case name == "":
		return "", errors.New(`the path is empty: give a path such as "notes.txt", or "." for the folder itself`)
	case strings.ContainsRune(name, 0):
		return "", errors.New("the path holds a zero byte: no file has such a name")
	}
	local := filepath.FromSlash(name)
	if filepath.IsAbs(local) {
		inside, ok := within(f.dir, local)
		if !ok {
			inside, ok = within(f.real, local)
		}
		if !ok {
			return "", f.outside(name)
		}
		local = inside
	}
	local = filepath.Clean(local)
	if !filepath.IsLocal(local) {
		return "", f.outside(name)
	}
	return filepath.ToSlash(local), nil
}

// within makes an absolute path relative to a folder that holds it.
func within(dir, name string) (string, bool) {
	inside, err := filepath.Rel(dir, name)
	return inside, err == nil && filepath.IsLocal(inside)
}

// outside tells that a path leads out of the folder.
func (f *Folder) outside(name string) error {
	return fmt.Errorf("%s is outside the allowed folder %s: use a path inside it", Quote(name), f.dir)
}

// stat looks at what a path leads to, through links that stay inside.
func (f *Folder) stat(name string) (fs.FileInfo, error) {
	info, err := f.root.Stat(name)
	if err != nil {
		return nil, f.explain(name, err)
	}
	return info, nil
}

// open opens a plain file for reading. A pipe that takes the file's place
// between the check and the opening does not block: it is opened so that it
// cannot, and refused after.
func (f *Folder) open(name string) (*os.File, fs.FileInfo, error) {
	info, err := f.stat(name)
	if err != nil {
		return nil, nil, err
	}
	if err := plain(name, info); err != nil {
		return nil, nil, err
	}
	file, err := f.root.OpenFile(name, os.O_RDONLY|nonblocking, 0)
	if err != nil {
		return nil, nil, f.explain(name, err)
	}
	info, err = file.Stat()
	if err == nil {
		err = plain(name, info)
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

// plain refuses what is not a plain file.
func plain(name string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return fmt.Errorf("%s is a folder: list it with list_directory", Quote(name))
	default:
		return fmt.Errorf("%s is a %s, not a plain file: it cannot be read or written here", Quote(name), special(mode))
	}
}

// special names what a file is that is neither plain nor a folder.
func special(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "link"
	case mode&fs.ModeNamedPipe != 0:
		return "pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}

// explain turns an error of the system into one that says what to do. The
// absolute path, which the system's text may hold, is left out.
func (f *Folder) explain(name string, err error) error {
	shown := Quote(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Error{fmt.Sprintf("there is no %s: see what there is with list_directory or search_files", shown), fs.ErrNotExist}
	case errors.Is(err, fs.ErrPermission):
		return &Error{fmt.Sprintf("permission denied for %s: this program may not use it", shown), fs.ErrPermission}
	case errors.Is(err, fs.ErrExist):
		return &Error{fmt.Sprintf("%s exists already: choose another name", shown), fs.ErrExist}
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s: a part of the path is a file, not a folder", shown)
	case errors.Is(err, syscall.ELOOP):
		return fmt.Errorf("%s: too many links that lead to one another", shown)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	if linkErr, ok := errors.AsType[*os.LinkError](err); ok {
		err = linkErr.Err
	}
	if escapes(err) {
		return fmt.Errorf("access denied - %s leads outside the allowed folder %s through a link: only what is inside it can be used", shown, f.dir)
	}
	return fmt.Errorf("%s: %w", shown, err)
}

// An Error is an error of the system in words for a model. It unwraps to
// fs.ErrNotExist, fs.ErrExist or fs.ErrPermission.
type Error struct {
	text  string
	cause error
}

// Error gives the words.
func (e *Error) Error() string { return e.text }

// Unwrap gives the error of package fs.
func (e *Error) Unwrap() error { return e.cause }

// Quote shows a name: as it is when it is harmless, quoted when it holds what
// would read as something else, such as a line end.
func Quote(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' }) || strings.TrimSpace(name) != name {
		return fmt.Sprintf("%q", name)
	}
	return name
}

// join joins a folder and a name with a forward slash.
func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return path.Join(dir, name)
}

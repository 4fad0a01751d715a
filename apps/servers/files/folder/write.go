package folder

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Write gives a file a new content, whole: whoever reads it meanwhile sees the
// old or the new one. Links are written through. With parents the folders on
// the way are made. It reports whether the file is new.
func (f *Folder) Write(name, content string, parents bool) (created bool, err error) {
	rel, err := f.relative(name)
	if err != nil {
		return false, err
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	target, before, err := f.target(rel)
	if err != nil {
		return false, err
	}
	if dir, _ := path.Split(target); dir != "" && before == nil {
		if err := f.parent(rel, dir, parents); err != nil {
			return false, err
		}
	}
	return before == nil, f.replace(rel, target, before, content)
}

// parent sees to it that the folder of a new file is there.
func (f *Folder) parent(rel, dir string, create bool) error {
	dir = strings.TrimSuffix(dir, "/")
	if create {
		if err := f.root.MkdirAll(dir, 0o777); err != nil {
			return f.explain(dir, err)
		}
		return nil
	}
	if _, err := f.root.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return &Error{fmt.Sprintf("there is no folder %s for %s: make it with create_directory", Quote(dir), Quote(path.Base(rel))), fs.ErrNotExist}
	}
	return nil
}

// target follows the links at the end of a path to the file that is to be
// written, which need not exist. The path it returns may hold "..", for the
// root to resolve: taking it away in the text would be wrong after a link.
func (f *Folder) target(rel string) (target string, before fs.FileInfo, err error) {
	target = rel
	for range 40 {
		info, err := f.root.Lstat(target)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return target, nil, nil
		case err != nil:
			return "", nil, f.explain(rel, err)
		case info.Mode()&fs.ModeSymlink == 0:
			return target, info, writable(rel, info)
		}
		link, err := f.root.Readlink(target)
		if err != nil {
			return "", nil, f.explain(rel, err)
		}
		if filepath.IsAbs(link) {
			return "", nil, fmt.Errorf("%s is a link with an absolute target, which is not followed: use the path of the file itself", Quote(rel))
		}
		dir, _ := path.Split(target)
		target = dir + filepath.ToSlash(link)
	}
	return "", nil, fmt.Errorf("%s: too many links that lead to one another", Quote(rel))
}

// writable refuses what should not be replaced. The system would not: replacing
// needs permission for the folder only.
func writable(rel string, info fs.FileInfo) error {
	if err := plain(rel, info); err != nil {
		return err
	}
	if info.Mode().Perm()&0o222 == 0 {
		return &Error{fmt.Sprintf("%s is read-only: it was not changed", Quote(rel)), fs.ErrPermission}
	}
	return nil
}

// replace writes a new file beside the target and gives it the target's name.
// The caller holds f.writing. before is what the target was when it was
// decided to replace it; nil if it was not there.
func (f *Folder) replace(rel, target string, before fs.FileInfo, content string) (err error) {
	dir, _ := path.Split(target)
	temp := dir + ".ferry-" + rand.Text() + ".tmp"
	file, err := f.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return f.explain(rel, err)
	}
	defer func() {
		if err != nil {
			file.Close()
			_ = f.root.Remove(temp)
			err = f.explain(rel, err)
		}
	}()
	if before != nil {
		if err := file.Chmod(before.Mode().Perm()); err != nil {
			return err
		}
	}
	if _, err := file.WriteString(content); err != nil {
		return err
	}
	// Without this a crash may leave the name with an empty file.
	if err := file.Sync(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if err := f.unchanged(target, before); err != nil {
		return err
	}
	return f.root.Rename(temp, target)
}

// errChanged tells that somebody else wrote meanwhile.
var errChanged = errors.New("it was changed by another program meanwhile, and is left as it is now: read it again")

// unchanged reports an error if the target is not what it was before. It
// cannot exclude a change between this look and the renaming.
func (f *Folder) unchanged(target string, before fs.FileInfo) error {
	now, err := f.root.Lstat(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case before == nil, !os.SameFile(before, now), before.Size() != now.Size(), !before.ModTime().Equal(now.ModTime()):
		return errChanged
	}
	return nil
}

// MakeFolder makes a folder and those on the way. It is no error if it is
// there; it reports whether it is new.
func (f *Folder) MakeFolder(name string) (created bool, err error) {
	rel, err := f.relative(name)
	if err != nil {
		return false, err
	}
	info, err := f.root.Stat(rel)
	switch {
	case err == nil && info.IsDir():
		return false, nil
	case err == nil:
		return false, fmt.Errorf("%s exists and is no folder: choose another name", Quote(rel))
	case !errors.Is(err, fs.ErrNotExist):
		return false, f.explain(rel, err)
	}
	if err := f.root.MkdirAll(rel, 0o777); err != nil {
		return false, f.explain(rel, err)
	}
	return true, nil
}

// Move gives a file, folder or link another name or place. It never replaces
// anything: the error is fs.ErrExist if the destination is there.
func (f *Folder) Move(source, destination string) error {
	from, err := f.relative(source)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	to, err := f.relative(destination)
	if err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	if from == "." || to == "." {
		return errors.New("the allowed folder itself cannot be moved or replaced")
	}
	if from == to || strings.HasPrefix(to, from+"/") {
		return fmt.Errorf("%s cannot be moved to %s: that is itself or inside itself", Quote(from), Quote(to))
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	info, err := f.root.Lstat(from)
	if err != nil {
		return fmt.Errorf("source: %w", f.explain(from, err))
	}
	if dir := path.Dir(to); dir != "." {
		if err := f.parent(to, dir, false); err != nil {
			return fmt.Errorf("destination: %w", err)
		}
	}
	return f.move(from, to, info)
}

// move renames. For files a hard link is made first, since that fails when the
// name is taken, whenever it was; file systems without hard links, and folders,
// get a look before.
func (f *Folder) move(from, to string, info fs.FileInfo) error {
	now, err := f.root.Lstat(to)
	switch {
	case err == nil && !os.SameFile(info, now):
		return fmt.Errorf("destination: %w", f.explain(to, fs.ErrExist))
	case err == nil && !strings.EqualFold(from, to):
		// Two names of one file: renaming would do nothing and say nothing.
		return fmt.Errorf("destination: %w", f.explain(to, fs.ErrExist))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("destination: %w", f.explain(to, err))
	case err != nil && info.Mode().IsRegular():
		err := f.root.Link(from, to)
		if err == nil {
			if err := f.root.Remove(from); err != nil {
				_ = f.root.Remove(to)
				return f.explain(from, err)
			}
			return nil
		}
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("destination: %w", f.explain(to, fs.ErrExist))
		}
	}
	if err := f.root.Rename(from, to); err != nil {
		return f.explain(to, err)
	}
	return nil
}

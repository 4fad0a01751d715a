package folder

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
)

// MoveTo moves a plain file into another folder. It never replaces anything. The
// folders may be on different disks, so the file is copied, and removed when the copy
// is complete.
func (f *Folder) MoveTo(source string, other *Folder, destination string) (err error) {
	from, err := f.relative(source)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	to, err := other.relative(destination)
	if err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	f.writing.Lock() // it is the lock of both
	defer f.writing.Unlock()
	if info, err := f.root.Lstat(from); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("source: %s is a %s: from one allowed folder to another only plain files can be moved; make the folder there and move its files", Quote(from), Kind(info.Mode().Type()))
	}
	in, info, err := f.open(from)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	defer func() { _ = in.Close() }() // it was only read
	if _, err := other.root.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fs.ErrExist
		}
		return fmt.Errorf("destination: %w", other.explain(to, err))
	}
	if err := other.parent(to, path.Dir(to)+"/", false); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	if err := other.copyIn(to, in, info); err != nil {
		return fmt.Errorf("destination: %w", other.explain(to, err))
	}
	if err := f.root.Remove(from); err != nil {
		return errors.Join(fmt.Errorf("source: %w", f.explain(from, err)), other.root.Remove(to))
	}
	return nil
}

// copyIn makes a file of another one's content, if nothing has its name.
func (f *Folder) copyIn(to string, in io.Reader, info fs.FileInfo) (err error) {
	dir, _ := path.Split(to)
	temp := dir + ".ferry-" + rand.Text() + ".tmp"
	out, err := f.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = f.root.Remove(temp) }() // the name that counts is another one
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Chmod(info.Mode().Perm())
	}
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	if err := f.root.Chtimes(temp, info.ModTime(), info.ModTime()); err != nil {
		return err
	}
	return f.root.Link(temp, to) // which fails when the name is taken
}

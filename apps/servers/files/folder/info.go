package folder

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"
	"time"
)

// Info is what is known of a file without reading it.
type Info struct {
	Path        string // relative to the Folder
	Kind        string
	Size        int64
	Created     time.Time // the last change where the system does not know
	Modified    time.Time
	Accessed    time.Time // the last change where the system does not know
	Permissions fs.FileMode
	MIMEType    string // of plain files
	Link        string // what a link says, of a path that is one
}

// Info looks at a file or folder, through links.
func (f *Folder) Info(name string) (Info, error) {
	rel, err := f.relative(name)
	if err != nil {
		return Info{}, err
	}
	stat, err := f.stat(rel)
	if err != nil {
		return Info{}, err
	}
	info := Info{
		Path: rel, Kind: Kind(stat.Mode().Type()), Size: stat.Size(),
		Modified: stat.ModTime(), Permissions: stat.Mode().Perm(),
	}
	info.Created, info.Accessed = f.times(rel, stat)
	if link, err := f.root.Readlink(rel); err == nil {
		info.Link = link
	}
	if stat.Mode().IsRegular() {
		info.MIMEType = f.sniff(rel)
	}
	return info, nil
}

// A Sized is a name in a folder with its size, that of what it leads to.
type Sized struct {
	Entry
	Size int64
}

// ListSizes lists a folder with sizes; 0 is the size of what cannot be looked at.
// Where links lead is asked of the set that the folder is one of.
func (f *Folder) ListSizes(ctx context.Context, name string, set *Set) ([]Sized, int, error) {
	entries, more, err := f.List(name)
	if err != nil {
		return nil, 0, err
	}
	rel, err := f.relative(name)
	if err != nil {
		return nil, 0, err
	}
	root, err := f.root.OpenRoot(rel)
	if err != nil {
		return nil, 0, f.explain(rel, err)
	}
	defer func() { _ = root.Close() }() // it was only read
	list := make([]Sized, len(entries))
	for i, e := range entries {
		if ctx.Err() != nil {
			return nil, 0, context.Cause(ctx)
		}
		list[i].Entry = e
		info, err := root.Stat(e.Name)
		if err != nil && e.Type&fs.ModeSymlink != 0 {
			info, err = set.Stat(f.Full(join(rel, e.Name)))
		}
		if err == nil {
			list[i].Size = info.Size()
		}
	}
	return list, more, nil
}

// Files lists plain files that are in the folder itself and not hidden, at
// most as many as the limit.
func (f *Folder) Files(limit int) ([]Info, error) {
	entries, err := f.entries(".")
	if err != nil {
		return nil, err
	}
	var files []Info
	for _, e := range entries {
		if len(files) >= limit {
			break
		}
		if !e.Type.IsRegular() || strings.HasPrefix(e.Name, ".") || visible(e.Name) != e.Name {
			continue
		}
		stat, err := f.root.Lstat(e.Name)
		if err != nil {
			continue // it went meanwhile
		}
		files = append(files, Info{
			Path: e.Name, Kind: Kind(stat.Mode().Type()), Size: stat.Size(), Modified: stat.ModTime(),
			Permissions: stat.Mode().Perm(), MIMEType: types[strings.ToLower(filepath.Ext(e.Name))],
		})
	}
	return files, nil
}

// sniff tells the type of a plain file by its name, or else its beginning.
func (f *Folder) sniff(rel string) string {
	if t, ok := types[strings.ToLower(filepath.Ext(rel))]; ok {
		return t
	}
	file, _, err := f.open(rel)
	if err != nil {
		return ""
	}
	defer file.Close()
	head := make([]byte, sniffed+1)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return ""
	}
	return mimeType(rel, head[:n])
}

// URI gives the address of a path.
func (f *Folder) URI(name string) (string, error) {
	rel, err := f.relative(name)
	if err != nil {
		return "", err
	}
	full := filepath.ToSlash(f.Full(rel))
	if !strings.HasPrefix(full, "/") {
		full = "/" + full // C:/folder
	}
	return (&url.URL{Scheme: "file", Path: full}).String(), nil
}

// PathOf gives the path that an address names.
func PathOf(uri string) (string, error) {
	u, err := url.Parse(uri)
	switch {
	case err != nil, u.Scheme != "file", u.Host != "" && u.Host != "localhost", u.Path == "":
		return "", errors.New("not the address of a file: it begins with file:/// and holds the whole path")
	}
	name := filepath.FromSlash(u.Path)
	if drive := strings.TrimPrefix(name, string(filepath.Separator)); filepath.VolumeName(drive) != "" {
		name = drive
	}
	return name, nil
}

// Below reports whether the folder is in another one, or is that.
func (f *Folder) Below(dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	_, ok := within(real, f.real)
	return ok
}

// visible makes a name that is not text fit to be shown. It cannot be used as
// a path then.
func visible(name string) string { return strings.ToValidUTF8(name, "\uFFFD") }

package folder

import (
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
	Modified    time.Time
	Permissions fs.FileMode
	MIMEType    string // of plain files
	Link        string // what a link says; it is not followed
}

// Info looks at a file, a folder or a link.
func (f *Folder) Info(name string) (Info, error) {
	rel, err := f.relative(name)
	if err != nil {
		return Info{}, err
	}
	stat, err := f.root.Lstat(rel)
	if err != nil {
		return Info{}, f.explain(rel, err)
	}
	info := Info{
		Path: rel, Kind: Kind(stat.Mode().Type()), Size: stat.Size(),
		Modified: stat.ModTime(), Permissions: stat.Mode().Perm(),
	}
	switch {
	case stat.Mode()&fs.ModeSymlink != 0:
		if info.Link, err = f.root.Readlink(rel); err != nil {
			return Info{}, f.explain(rel, err)
		}
	case stat.Mode().IsRegular():
		info.MIMEType = f.sniff(rel)
	}
	return info, nil
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
	full := filepath.ToSlash(filepath.Join(f.dir, filepath.FromSlash(rel)))
	if !strings.HasPrefix(full, "/") {
		full = "/" + full // C:/folder
	}
	return (&url.URL{Scheme: "file", Path: full}).String(), nil
}

// FromURI gives the path that an address names. That it is inside the folder
// is seen when the path is used.
func (f *Folder) FromURI(uri string) (string, error) {
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

// visible makes a name that is not text fit to be shown. It cannot be used as
// a path then.
func visible(name string) string { return strings.ToValidUTF8(name, "\uFFFD") }

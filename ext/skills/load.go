package skills

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ferrymcp/ferry/mcp"
)

// A set is what a folder of skills held when it was read. It does not change.
type set struct {
	skills  []Skill                   // by URI
	files   map[string]*content       // by URI
	folders map[string][]mcp.Resource // what they hold, by URI
}

// A content is a file with its bytes.
type content struct {
	resource mcp.Resource
	file     File
	data     []byte
}

// contents are what reading the file returns: text if it is, byte by byte.
func (c *content) contents() mcp.ResourceContents {
	if utf8.Valid(c.data) {
		return mcp.TextResource(c.resource.URI, c.resource.MIMEType, string(c.data))
	}
	return mcp.BlobResource(c.resource.URI, c.resource.MIMEType, c.data)
}

// directoryType is the MIME type of folders.
const directoryType = "inode/directory"

// load reads all skills below a folder.
func load(fsys fs.FS, prefix string, parse FrontmatterParser) (*set, error) {
	roots, err := findSkills(fsys)
	if err != nil {
		return nil, fmt.Errorf("look for skills: %w", err)
	}
	l := loader{fsys: fsys, prefix: prefix, parse: parse, set: set{
		files: map[string]*content{}, folders: map[string][]mcp.Resource{},
	}}
	for _, root := range roots {
		if err := l.skill(root); err != nil {
			return nil, errServe(root, err)
		}
	}
	slices.SortFunc(l.set.skills, func(a, b Skill) int { return cmp.Compare(a.URI, b.URI) })
	l.fold()
	return &l.set, nil
}

// findSkills returns the folders with a SKILL.md, the outer ones first.
func findSkills(fsys fs.FS) ([]string, error) {
	var roots []string
	err := fs.WalkDir(fsys, ".", func(name string, _ fs.DirEntry, err error) error {
		if err == nil && path.Base(name) == manifest {
			roots = append(roots, path.Dir(name))
		}
		return err
	})
	return roots, err
}

type loader struct {
	fsys   fs.FS
	prefix string
	parse  FrontmatterParser
	set    set
}

// uri returns the URI of a file or folder.
func (l *loader) uri(name string) string { return "skill://" + escape(path.Join(l.prefix, name)) }

// skill reads the files of one skill.
func (l *loader) skill(root string) error {
	skill := Skill{URI: l.uri(path.Join(root, manifest))}
	if root == "." && l.prefix == "" {
		return errors.New("the skill needs a folder of its own, or a prefix that ends in its name")
	}
	total := 0
	err := fs.WalkDir(l.fsys, root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			l.set.folders[l.uri(name)] = []mcp.Resource{}
			return nil
		}
		c, err := l.file(name, d)
		if err != nil {
			return err
		}
		skill.Files = append(skill.Files, c.file)
		if total += len(c.data); len(skill.Files) > MaxFiles || total > MaxBytes {
			return fmt.Errorf("more than %d files or %d bytes", MaxFiles, MaxBytes)
		}
		return nil
	})
	if err != nil {
		return err
	}
	own := l.set.files[skill.URI]
	if skill.Frontmatter, err = frontmatter(own.data, l.parse); err != nil {
		return err
	}
	own.resource.Name, own.resource.Description = skill.Name(), skill.Description()
	if err := skill.check(); err != nil {
		return err
	}
	l.set.skills = append(l.set.skills, skill)
	return nil
}

// file reads a file, unless that has been done for another skill.
func (l *loader) file(name string, d fs.DirEntry) (*content, error) {
	uri := l.uri(name)
	if c, ok := l.set.files[uri]; ok {
		return c, nil
	}
	info, err := d.Info()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > MaxBytes {
		return nil, fmt.Errorf("%s is not a plain file of at most %d bytes", name, MaxBytes)
	}
	data, err := fs.ReadFile(l.fsys, name)
	if err != nil {
		return nil, err
	}
	c := &content{
		resource: mcp.Resource{
			URI: uri, Name: path.Base(name), MIMEType: mimeType(name, data), Size: mcp.Ptr(int64(len(data))),
		},
		file: File{URI: uri, Digest: digest(data), Size: int64(len(data))},
		data: data,
	}
	l.set.files[uri] = c
	return c, nil
}

// fold lists all files and folders in the folders they lie in.
func (l *loader) fold() {
	folders := l.set.folders
	add := func(r mcp.Resource) {
		parent := r.URI[:strings.LastIndexByte(r.URI, '/')]
		if children, ok := folders[parent]; ok {
			folders[parent] = append(children, r)
		}
	}
	for _, c := range l.set.files {
		add(c.resource)
	}
	for folder := range folders {
		add(mcp.Resource{URI: folder, Name: path.Base(folder), MIMEType: directoryType})
	}
	for _, children := range folders {
		slices.SortFunc(children, func(a, b mcp.Resource) int { return cmp.Compare(a.URI, b.URI) })
	}
}

// mimeTypes are the types of files that skills often have. The system's table is
// not asked: digests are the same everywhere, and so should this be.
var mimeTypes = map[string]string{
	".md": "text/markdown", ".txt": "text/plain", ".csv": "text/csv", ".html": "text/html", ".css": "text/css",
	".json": "application/json", ".yaml": "application/yaml", ".yml": "application/yaml", ".xml": "application/xml",
	".js": "text/javascript", ".ts": "text/x-typescript", ".py": "text/x-python", ".go": "text/x-go",
	".sh": "application/x-sh", ".sql": "application/sql", ".toml": "application/toml",
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".svg": "image/svg+xml",
	".webp": "image/webp", ".pdf": "application/pdf", ".zip": "application/zip",
}

func mimeType(name string, data []byte) string {
	switch known, ok := mimeTypes[strings.ToLower(path.Ext(name))]; {
	case ok:
		return known
	case utf8.Valid(data):
		return "text/plain"
	}
	return "application/octet-stream"
}

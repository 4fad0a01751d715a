package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Tree is the parsed source of a repository: the module at its root and the
// modules below it. Files are read whatever their build constraints are.
type Tree struct {
	Dir      string // the root folder
	Module   string // the path of the module at the root
	Packages []*Package
	Fset     *token.FileSet
}

// A Package is the Go files of one folder, tests included.
type Package struct {
	Path  string // the folder, relative to the root, with slashes; "." is the root
	Name  string // the name in its non-test files, empty if there are none
	Files []*File
}

// Internal reports whether the package is under an internal folder.
func (p *Package) Internal() bool {
	return slices.Contains(strings.Split(p.Path, "/"), "internal")
}

// Source yields the files that are not tests.
func (p *Package) Source() []*File {
	var files []*File
	for _, f := range p.Files {
		if !f.Test {
			files = append(files, f)
		}
	}
	return files
}

// A File is one parsed file.
type File struct {
	Path    string // relative to the root, with slashes
	Package *Package
	Test    bool
	Lines   int
	Syntax  *ast.File
}

// Imports yields the import paths of the file.
func (f *File) Imports() []string {
	var paths []string
	for _, spec := range f.Syntax.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err == nil {
			paths = append(paths, p)
		}
	}
	return paths
}

// Local returns the name under which the file imports a package, and false if it
// does not.
func (f *File) Local(importPath string) (string, bool) {
	for _, spec := range f.Syntax.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err != nil || p != importPath {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name, true
		}
		return path.Base(importPath), true
	}
	return "", false
}

// Load parses the repository at dir. Folders named testdata or node_modules, and
// those that start with a dot or an underscore, are left out, as go build leaves
// them out.
func Load(dir string) (*Tree, error) {
	t := &Tree{Dir: dir, Fset: token.NewFileSet()}
	var err error
	if t.Module, err = modulePath(filepath.Join(dir, "go.mod")); err != nil {
		return nil, err
	}
	packages := map[string]*Package{}
	err = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != dir && ignored(entry.Name()):
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(name) != ".go" || ignored(entry.Name()):
			return nil
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		pkg := packages[path.Dir(rel)]
		if pkg == nil {
			pkg = &Package{Path: path.Dir(rel)}
			packages[pkg.Path] = pkg
			t.Packages = append(t.Packages, pkg)
		}
		return t.add(pkg, name, rel)
	})
	return t, err
}

func (t *Tree) add(pkg *Package, name, rel string) error {
	syntax, err := parser.ParseFile(t.Fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("parse %s: %w", rel, err)
	}
	f := &File{
		Path:    rel,
		Package: pkg,
		Test:    strings.HasSuffix(rel, "_test.go"),
		Lines:   t.Fset.File(syntax.FileStart).LineCount(),
		Syntax:  syntax,
	}
	if end := t.Fset.PositionFor(syntax.FileEnd, false); end.Column == 1 {
		f.Lines-- // the last line ends with a newline
	}
	if !f.Test {
		pkg.Name = syntax.Name.Name
	}
	pkg.Files = append(pkg.Files, f)
	return nil
}

// Files yields every file.
func (t *Tree) Files(yield func(*File) bool) {
	for _, p := range t.Packages {
		for _, f := range p.Files {
			if !yield(f) {
				return
			}
		}
	}
}

// Package returns the package in a folder, nil if there is none.
func (t *Tree) Package(folder string) *Package {
	for _, p := range t.Packages {
		if p.Path == folder {
			return p
		}
	}
	return nil
}

// Own returns the folder of an import path, and false if it is not ours. The
// modules below the root are named after their folder, so one prefix serves.
func (t *Tree) Own(importPath string) (string, bool) {
	if importPath == t.Module {
		return ".", true
	}
	return strings.CutPrefix(importPath, t.Module+"/")
}

func (t *Tree) position(f *File, pos token.Pos) string {
	return fmt.Sprintf("%s:%d", f.Path, t.Fset.PositionFor(pos, false).Line)
}

func modulePath(gomod string) (string, error) {
	data, err := os.ReadFile(gomod)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(data)) {
		if p, ok := strings.CutPrefix(line, "module "); ok {
			return strings.TrimSpace(p), nil
		}
	}
	return "", fmt.Errorf("read %s: no module line", gomod)
}

func ignored(name string) bool {
	return name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

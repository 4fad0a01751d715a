package archtest

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// undocumented lists methods whose meaning is fixed by the interface they are
// for, so that a comment could only repeat it.
var undocumented = []string{
	"Error", "String", "Unwrap",
	"MarshalJSON", "UnmarshalJSON", "MarshalJSONTo", "UnmarshalJSONFrom",
}

// Docs checks that every package says what it is for, and that every exported
// name has a comment that starts with it. A comment on a group of constants or
// variables serves all of them.
func Docs(t *Tree) []Finding {
	var out []Finding
	for _, p := range t.Packages {
		source := p.Source()
		if len(source) == 0 {
			continue
		}
		if !slices.ContainsFunc(source, func(f *File) bool { return f.Syntax.Doc != nil }) {
			out = append(out, Finding{"doc comment", p.Path, "the package has none"})
		}
		for _, f := range source {
			d := docs{t, f, &out}
			for _, decl := range f.Syntax.Decls {
				d.decl(decl)
			}
		}
	}
	return out
}

type docs struct {
	tree *Tree
	file *File
	out  *[]Finding
}

func (d docs) decl(decl ast.Decl) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		recv := receiver(decl)
		if !decl.Name.IsExported() || recv != "" && (!ast.IsExported(recv) || slices.Contains(undocumented, decl.Name.Name)) {
			return
		}
		d.named(decl.Name, funcName(d.file, decl), decl.Doc)
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			d.spec(decl, spec)
		}
	}
}

func (d docs) spec(group *ast.GenDecl, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		doc := spec.Doc
		if doc == nil && !group.Lparen.IsValid() {
			doc = group.Doc
		}
		if spec.Name.IsExported() {
			d.named(spec.Name, d.file.Package.Path+"."+spec.Name.Name, doc)
		}
	case *ast.ValueSpec:
		if group.Doc != nil || spec.Doc != nil || spec.Comment != nil {
			return
		}
		for _, name := range spec.Names {
			if name.IsExported() {
				d.finding(name.Pos(), d.file.Package.Path+"."+name.Name, "has none")
			}
		}
	}
}

func (d docs) named(name *ast.Ident, where string, doc *ast.CommentGroup) {
	text := strings.TrimSpace(doc.Text())
	if text == "" {
		d.finding(name.Pos(), where, "has none")
		return
	}
	for _, article := range []string{"A ", "An ", "The "} {
		text = strings.TrimPrefix(text, article)
	}
	if !strings.HasPrefix(text, name.Name) {
		d.finding(name.Pos(), where, "does not start with the name")
	}
}

func (d docs) finding(pos token.Pos, where, text string) {
	*d.out = append(*d.out, Finding{"doc comment", where, text + " (" + d.tree.position(d.file, pos) + ")"})
}

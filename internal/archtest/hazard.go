package archtest

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// Revisions checks that string literals naming a protocol revision are only in
// the package at home and in tests: everything else asks that package.
func Revisions(t *Tree, names []string, home string) []Finding {
	var out []Finding
	for f := range t.Files {
		if f.Test || f.Package.Path == home {
			continue
		}
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			if slices.ContainsFunc(names, func(name string) bool { return strings.Contains(lit.Value, name) }) {
				out = append(out, Finding{
					"revision literal", f.Path,
					lit.Value + " belongs in " + home + " (" + t.position(f, lit.Pos()) + ")",
				})
			}
			return true
		})
	}
	return out
}

// Unsafe checks that no file goes around the type system: what does has to say,
// as an exception, why it is safe.
func Unsafe(t *Tree) []Finding {
	var out []Finding
	for f := range t.Files {
		if slices.Contains(f.Imports(), "unsafe") {
			out = append(out, Finding{"unsafe", f.Path, "must not import it"})
		}
	}
	return out
}

// Goroutines checks that no code but tests has a go statement: a goroutine is
// started with the Go method of the sync.WaitGroup its owner waits on.
func Goroutines(t *Tree) []Finding {
	return t.inspect(func(f *File, n ast.Node, _ []ast.Node) (check, text string) {
		if _, ok := n.(*ast.GoStmt); ok && !f.Test {
			return "go statement", "start it with wg.Go and wait for it"
		}
		return "", ""
	})
}

// Contexts checks that no library code makes up a context of its own, which
// nobody could cancel.
func Contexts(t *Tree) []Finding {
	return t.inspect(func(f *File, n ast.Node, _ []ast.Node) (check, text string) {
		if f.Test || f.Package.Name == "main" {
			return "", ""
		}
		for _, name := range []string{"Background", "TODO"} {
			if isSelector(f, n, "context", name) {
				return "root context", "take the context of the caller, not context." + name
			}
		}
		return "", ""
	})
}

// Sleeps checks that nothing waits for time to pass: a test waits for what it is
// about, and a library has to be able to stop waiting. Inside the function given to
// synctest.Test time is not real and sleeping is how it passes.
func Sleeps(t *Tree) []Finding {
	return t.inspect(func(f *File, n ast.Node, parents []ast.Node) (check, text string) {
		if !isSelector(f, n, "time", "Sleep") || f.Package.Name == "main" && !f.Test {
			return "", ""
		}
		inBubble := slices.ContainsFunc(parents, func(p ast.Node) bool {
			call, ok := p.(*ast.CallExpr)
			return ok && isSelector(f, call.Fun, "testing/synctest", "Test")
		})
		if inBubble {
			return "", ""
		}
		return "sleep", "wait for the event, or test under synctest"
	})
}

// inspect calls see for every node below the functions and variables of the
// tree, with the nodes that hold it, and turns what it says into findings.
func (t *Tree) inspect(see func(f *File, n ast.Node, parents []ast.Node) (check, text string)) []Finding {
	var out []Finding
	for f := range t.Files {
		for _, decl := range f.Syntax.Decls {
			where := f.Path // for a variable outside functions
			if fn, ok := decl.(*ast.FuncDecl); ok {
				where = funcName(f, fn)
			}
			var parents []ast.Node
			ast.Inspect(decl, func(n ast.Node) bool {
				if n == nil {
					parents = parents[:len(parents)-1]
					return true
				}
				if check, text := see(f, n, parents); check != "" {
					out = append(out, Finding{check, where, text + " (" + t.position(f, n.Pos()) + ")"})
				}
				parents = append(parents, n)
				return true
			})
		}
	}
	return out
}

// isSelector reports whether n is the given name of the given package, under
// whatever name the file imports it.
func isSelector(f *File, n ast.Node, importPath, name string) bool {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != name {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	if !ok {
		return false
	}
	local, imported := f.Local(importPath)
	return imported && x.Name == local
}

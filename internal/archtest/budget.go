package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
)

// A Budget is the size a piece of source may have.
type Budget struct {
	FileLines     int
	FunctionLines int
	Complexity    int            // cyclomatic
	Names         map[string]int // exported names of a public package, by folder
	OtherNames    int            // the same for a package not in Names
}

// Sizes checks the budgets of files and functions. A test file has to stay within
// the length of a file, its functions may be as long as their tables.
func Sizes(t *Tree, b Budget) []Finding {
	var out []Finding
	for f := range t.Files {
		if f.Lines > b.FileLines {
			out = append(out, Finding{
				"file length", f.Path,
				fmt.Sprintf("%d lines, budget %d", f.Lines, b.FileLines),
			})
		}
		if f.Test {
			continue
		}
		for _, decl := range f.Syntax.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			where := funcName(f, fn)
			lines := t.Fset.PositionFor(fn.End(), false).Line - t.Fset.PositionFor(fn.Pos(), false).Line + 1
			if lines > b.FunctionLines {
				out = append(out, Finding{
					"function length", where,
					fmt.Sprintf("%d lines, budget %d (%s)", lines, b.FunctionLines, t.position(f, fn.Pos())),
				})
			}
			if c := complexity(fn); c > b.Complexity {
				out = append(out, Finding{
					"complexity", where,
					fmt.Sprintf("cyclomatic %d, budget %d (%s)", c, b.Complexity, t.position(f, fn.Pos())),
				})
			}
		}
	}
	return out
}

// complexity counts the paths through a function: one, and one more for each
// branch. Function literals count towards the function that holds them.
func complexity(fn *ast.FuncDecl) int {
	n := 1
	ast.Inspect(fn, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if node.List != nil { // a default is no branch of its own
				n++
			}
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}

// Names checks the number of exported top-level names of the packages a user can
// import. Methods and fields do not count: they are found through their type.
func Names(t *Tree, b Budget) []Finding {
	var out []Finding
	for _, p := range t.Packages {
		if p.Internal() || p.Name == "main" {
			continue
		}
		n := 0
		for _, f := range p.Source() {
			for _, decl := range f.Syntax.Decls {
				n += exportedNames(decl)
			}
		}
		limit, ok := b.Names[p.Path]
		if !ok {
			limit = b.OtherNames
		}
		if n > limit {
			out = append(out, Finding{"exported names", p.Path, fmt.Sprintf("%d names, budget %d", n, limit)})
		}
	}
	return out
}

func exportedNames(decl ast.Decl) int {
	if fn, ok := decl.(*ast.FuncDecl); ok {
		if fn.Recv == nil && fn.Name.IsExported() {
			return 1
		}
		return 0
	}
	n := 0
	for _, spec := range decl.(*ast.GenDecl).Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.IsExported() {
				n++
			}
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				if name.IsExported() {
					n++
				}
			}
		}
	}
	return n
}

// funcName names a function the way an exception does: folder.Func or
// folder.Type.Method.
func funcName(f *File, fn *ast.FuncDecl) string {
	if recv := receiver(fn); recv != "" {
		return f.Package.Path + "." + recv + "." + fn.Name.Name
	}
	return f.Package.Path + "." + fn.Name.Name
}

// receiver returns the name of the type a method belongs to, empty for a function.
func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return ""
	}
	for expr := fn.Recv.List[0].Type; ; {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}

package archtest

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// A Rule places packages in a layer and says which of our packages they may
// import. Patterns are folders; a final "/..." takes in everything below.
type Rule struct {
	Package string   // the pattern of the packages it is about
	Layer   int      // their layer
	Below   int      // they may import every package of a layer lower than this
	Also    []string // and the packages of these patterns
	Public  bool     // never an internal package that is not below their own module or folder
}

// Imports checks the imports of every package against the table: the first rule
// that names a package counts. A package that no rule names is a finding too, so
// that a new one has to be placed. Tests may import across layers, because that
// is what they test with, but the rule on internal packages holds for them.
func Imports(t *Tree, rules []Rule) []Finding {
	var out []Finding
	for _, p := range t.Packages {
		rule := ruleFor(rules, p.Path)
		if rule == nil {
			out = append(out, Finding{"imports", p.Path, "has no rule, place it in a layer"})
			continue
		}
		seen := map[string]bool{}
		for _, f := range p.Files {
			for _, imported := range f.Imports() {
				to, own := t.Own(imported)
				if !own || to == p.Path || seen[to] || allowed(rules, rule, p, f, to) {
					continue
				}
				seen[to] = true
				text := fmt.Sprintf("%s must not import it (layer %d)", f.Path, rule.Layer)
				out = append(out, Finding{"imports", p.Path + " -> " + to, text})
			}
		}
	}
	return out
}

func allowed(rules []Rule, rule *Rule, p *Package, f *File, to string) bool {
	if rule.Public && foreignInternal(p.Path, to) {
		return false
	}
	if f.Test {
		return true
	}
	if slices.ContainsFunc(rule.Also, func(pattern string) bool { return match(pattern, to) }) {
		return true
	}
	target := ruleFor(rules, to)
	return target != nil && target.Layer < rule.Below
}

// foreignInternal reports whether to is under an internal folder whose parent
// does not hold the importing package. Go's own rule is not enough: the modules
// below the root may, for the compiler, import the root's internal packages. The
// root itself therefore does not count as a holder.
func foreignInternal(from, to string) bool {
	elems := strings.Split(to, "/")
	i := slices.Index(elems, "internal")
	if i < 0 {
		return false
	}
	holder := path.Join(elems[:i]...)
	return holder == "" || !match(holder+"/...", from)
}

func ruleFor(rules []Rule, folder string) *Rule {
	for i := range rules {
		if match(rules[i].Package, folder) {
			return &rules[i]
		}
	}
	return nil
}

func match(pattern, folder string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "/..."); ok {
		return folder == prefix || strings.HasPrefix(folder, prefix+"/")
	}
	return folder == pattern
}

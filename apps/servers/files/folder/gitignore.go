package folder

import (
	"bytes"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// maxIgnoreFile is the largest .gitignore file that is read, maxIgnoreLines how many
// lines of it.
const (
	maxIgnoreFile  = 256 << 10
	maxIgnoreLines = 2000
)

// An ignoreRule is a line of a .gitignore file.
type ignoreRule struct {
	pattern string // for paths relative to the folder of the file
	dirOnly bool
	keep    bool // the line takes back what others said
}

// ignoreRules are those of one folder, and of the folders it is in.
type ignoreRules struct {
	above *ignoreRules // nil for none
	base  string       // the folder of the file
	rules []ignoreRule
}

// with adds the rules of a folder, if it has some.
func (r *ignoreRules) with(root *os.Root, base string, entries []Entry) *ignoreRules {
	i, found := slices.BinarySearchFunc(entries, ".gitignore", func(e Entry, name string) int { return strings.Compare(e.Name, name) })
	if !found || !entries[i].Type.IsRegular() {
		return r
	}
	file, err := root.OpenFile(".gitignore", os.O_RDONLY|nonblocking, 0)
	if err != nil {
		return r
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return r
	}
	data, err := readAll(file, maxIgnoreFile)
	if err != nil {
		return r
	}
	if rules := parseIgnore(data); len(rules) > 0 {
		return &ignoreRules{above: r, base: base, rules: rules}
	}
	return r
}

// parseIgnore reads the lines of a file. Those that are no patterns are passed over.
func parseIgnore(data []byte) []ignoreRule {
	var rules []ignoreRule
	for line := range bytes.Lines(data) {
		if len(rules) >= maxIgnoreLines {
			break
		}
		if rule, ok := parseRule(strings.TrimRight(string(line), "\r\n")); ok {
			rules = append(rules, rule)
		}
	}
	return rules
}

func parseRule(text string) (rule ignoreRule, ok bool) {
	if trimmed := strings.TrimRight(text, " "); !strings.HasSuffix(trimmed, `\`) {
		text = trimmed
	}
	if text == "" || text[0] == '#' {
		return rule, false
	}
	if text, rule.keep = strings.CutPrefix(text, "!"); strings.HasPrefix(text, `\!`) || strings.HasPrefix(text, `\#`) {
		text = text[1:]
	}
	text, rule.dirOnly = strings.CutSuffix(text, "/")
	anchored := strings.Contains(text, "/")
	text = strings.TrimPrefix(text, "/")
	// Braces mean nothing to git.
	text = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(text)
	if !anchored {
		text = "**/" + text
	}
	if rest, ok := strings.CutSuffix(text, "/**"); ok {
		text = rest + "/**/*"
	}
	rule.pattern = text
	return rule, checkPattern(text) == nil
}

// ignored reports whether the rules take a path out. The last rule of the nearest
// file that says something about it counts.
func (r *ignoreRules) ignored(rel string, isDir bool) bool {
	if isDir && path.Base(rel) == ".git" {
		return true
	}
	for ; r != nil; r = r.above {
		below := rel
		if r.base != "." {
			below = strings.TrimPrefix(rel, r.base+"/")
		}
		for _, rule := range slices.Backward(r.rules) {
			if (isDir || !rule.dirOnly) && doublestar.MatchUnvalidated(rule.pattern, below) {
				return !rule.keep
			}
		}
	}
	return false
}

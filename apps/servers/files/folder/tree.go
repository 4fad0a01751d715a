package folder

import (
	"context"
	"encoding/json"
	"io/fs"
	"strconv"
	"unicode/utf8"
)

// Tree writes what is in a folder and below it as JSON with an indentation of two:
// name, type, and the children of folders. It tells how much was left out.
func (f *Folder) Tree(ctx context.Context, name string, walk Walk) (text string, more int, cut Cut, err error) {
	rel, err := f.relative(name)
	if err != nil {
		return "", 0, "", err
	}
	if err := walk.check(); err != nil {
		return "", 0, "", err
	}
	globs, err := anywhere(walk.Exclude)
	if err != nil {
		return "", 0, "", err
	}
	list, cut, err := f.scan(ctx, rel, walk, anyOf(globs))
	if err != nil {
		return "", 0, "", err
	}
	w := &treeWriter{left: f.limits.Results}
	w.list(list, 0)
	return string(w.out), w.more, cut, nil
}

// A treeWriter writes a tree. A hundred thousand names are too many for reflection.
type treeWriter struct {
	out  []byte
	left int // how many names may still be written
	more int // how many were not
}

func (w *treeWriter) indent(depth int) {
	w.out = append(w.out, '\n')
	for range depth {
		w.out = append(w.out, "  "...)
	}
}

// list writes the array of what is in a folder.
func (w *treeWriter) list(l *listing, depth int) {
	first := true
	w.out = append(w.out, '[')
	if l != nil {
		for i, e := range l.entries {
			if w.left <= 0 {
				w.more += 1 + l.below[i].count()
				continue
			}
			w.left--
			if !first {
				w.out = append(w.out, ',')
			}
			first = false
			w.node(e, l.below[i], depth+1)
		}
	}
	if !first {
		w.indent(depth)
	}
	w.out = append(w.out, ']')
}

// node writes one name.
func (w *treeWriter) node(e Entry, below *listing, depth int) {
	w.indent(depth)
	w.out = append(w.out, '{')
	w.indent(depth + 1)
	w.out = append(w.out, `"name": `...)
	w.out = appendText(w.out, visible(e.Name))
	w.out = append(w.out, ',')
	w.indent(depth + 1)
	if !e.Type.IsDir() {
		w.out = append(w.out, `"type": "file"`...)
	} else {
		w.out = append(w.out, `"type": "directory",`...)
		w.indent(depth + 1)
		w.out = append(w.out, `"children": `...)
		w.list(below, depth+1)
	}
	w.indent(depth)
	w.out = append(w.out, '}')
}

// appendText writes a text as JSON, without the escapes that are for web pages.
func appendText(out []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c == 0x7f || c >= utf8.RuneSelf {
			return appendOdd(out, text)
		}
	}
	out = append(out, '"')
	out = append(out, text...)
	return append(out, '"')
}

func appendOdd(out []byte, text string) []byte {
	out = append(out, '"')
	for _, r := range text {
		switch {
		case r < ' ':
			quoted, err := json.Marshal(string(r))
			if err != nil {
				quoted = []byte(strconv.Quote(string(r)))
			}
			out = append(out, quoted[1:len(quoted)-1]...)
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return append(out, '"')
}

// count is how many names are below.
func (l *listing) count() int {
	if l == nil {
		return 0
	}
	n := len(l.entries)
	for _, below := range l.below {
		n += below.count()
	}
	return n
}

// Kind names the kind of a file.
func Kind(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "file"
	case mode.IsDir():
		return "directory"
	}
	return special(mode)
}

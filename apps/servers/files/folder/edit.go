package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// An Edit replaces a text that occurs once.
type Edit struct {
	OldText string `json:"oldText" jsonschema:"text to replace; it must occur exactly once, so give whole lines and enough of them"`
	NewText string `json:"newText" jsonschema:"text to put in its place"`
}

// Edit applies edits one after the other and returns what changed as a diff.
// All of them apply or none. With dry the file stays as it is.
func (f *Folder) Edit(name string, edits []Edit, dry bool) (diff string, err error) {
	rel, err := f.relative(name)
	if err != nil {
		return "", err
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	target, before, err := f.target(rel)
	if err != nil {
		return "", err
	}
	if before == nil {
		return "", f.explain(rel, fs.ErrNotExist)
	}
	old, err := f.readForEdit(rel)
	if err != nil {
		return "", err
	}
	changed, err := apply(old, edits)
	if err != nil {
		return "", fmt.Errorf("%s was not changed: %w", Quote(rel), err)
	}
	if !dry && changed != old {
		if err := f.replace(rel, target, before, changed); err != nil {
			return "", err
		}
	}
	return Diff(rel, old, changed), nil
}

// readForEdit reads a whole file, which must be text.
func (f *Folder) readForEdit(rel string) (string, error) {
	file, info, err := f.open(rel)
	if err != nil {
		return "", err
	}
	defer file.Close()
	data, err := readAll(file, f.limits.File)
	if errors.Is(err, errTooLong) {
		return "", fmt.Errorf("%s has %s: files over %s are not edited", Quote(rel), bytesOf(info.Size()), bytesOf(f.limits.File))
	}
	if err != nil {
		return "", f.explain(rel, err)
	}
	if !isText(data, true) {
		return "", fmt.Errorf("%s is not text in UTF-8: it cannot be edited", Quote(rel))
	}
	return string(data), nil
}

// apply makes the edits, in order.
func apply(text string, edits []Edit) (string, error) {
	if len(edits) == 0 {
		return "", errors.New("there are no edits")
	}
	for i, e := range edits {
		changed, err := applyOne(text, e)
		if err != nil {
			return "", fmt.Errorf("edit %d: %w", i+1, err)
		}
		text = changed
	}
	return text, nil
}

// applyOne makes one edit. In a file whose lines all end the Windows way, the
// edit's lines are taken to end that way too.
func applyOne(text string, e Edit) (string, error) {
	if e.OldText == "" {
		return "", errors.New("oldText is empty: give the text to replace")
	}
	if windows(text) {
		e.OldText, e.NewText = toWindows(e.OldText), toWindows(e.NewText)
	}
	switch n := strings.Count(text, e.OldText); {
	case n == 1:
		return strings.Replace(text, e.OldText, e.NewText, 1), nil
	case n > 1:
		return "", fmt.Errorf("oldText occurs %d times: add lines before or after it until it occurs once", n)
	}
	return applyLines(text, e)
}

// windows reports whether all lines end with a carriage return.
func windows(text string) bool {
	n := strings.Count(text, "\n")
	return n > 0 && n == strings.Count(text, "\r\n")
}

// toWindows ends all lines with a carriage return.
func toWindows(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
}

// applyLines makes an edit whose lines differ from the file's in white space at
// their ends only. The new lines are indented as the file is.
func applyLines(text string, e Edit) (string, error) {
	old := strings.Split(strings.TrimRight(e.OldText, "\r\n"), "\n")
	lines := strings.SplitAfter(text, "\n")
	at, times := -1, 0
	if strings.TrimSpace(e.OldText) != "" {
		for i := 0; i+len(old) <= len(lines); i++ {
			if alike(lines[i:i+len(old)], old) {
				at = i
				times++
			}
		}
	}
	switch {
	case times == 0:
		return "", errors.New("oldText does not occur, even with other spaces at the ends of its lines: read the file and copy the text from it")
	case times > 1:
		return "", fmt.Errorf("oldText occurs %d times when spaces at the ends of lines do not count: add lines before or after it until it occurs once", times)
	}
	last := lines[at+len(old)-1]
	end := last[len(strings.TrimRight(last, "\r\n")):]
	fresh := reindent(e.NewText, indentOf(old[0]), indentOf(lines[at]))
	if fresh != "" {
		fresh = strings.TrimRight(fresh, "\r\n") + end
	}
	return strings.Join(lines[:at], "") + fresh + strings.Join(lines[at+len(old):], ""), nil
}

// alike reports whether lines are the same but for white space at their ends.
func alike(a, b []string) bool {
	for i := range a {
		if strings.TrimSpace(a[i]) != strings.TrimSpace(b[i]) {
			return false
		}
	}
	return true
}

// indentOf is the white space at the beginning of a line.
func indentOf(line string) string {
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// reindent gives lines that begin with one indentation another.
func reindent(text, from, to string) string {
	if from == to {
		return text
	}
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if rest, ok := strings.CutPrefix(line, from); ok && strings.TrimSpace(line) != "" {
			lines[i] = to + rest
		}
	}
	return strings.Join(lines, "")
}

package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode"
)

// An Edit replaces a text by another, where it occurs first.
type Edit struct {
	OldText string `json:"oldText"`
	NewText string `json:"newText"`
}

// Edited is what edits have done.
type Edited struct {
	// Diff shows what changed, with line ends of one character.
	Diff string
	// Ambiguous are the numbers, from 1, of edits whose text occurred several times.
	Ambiguous []int
}

// Edit applies edits one after the other. All of them apply or none. With dry the
// file stays as it is. A file whose lines all end the Windows way keeps those ends.
func (f *Folder) Edit(name string, edits []Edit, dry bool) (*Edited, error) {
	rel, err := f.relative(name)
	if err != nil {
		return nil, err
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	target, before, err := f.target(rel)
	if err != nil {
		return nil, err
	}
	if before == nil {
		return nil, f.explain(rel, fs.ErrNotExist)
	}
	old, err := f.readForEdit(rel)
	if err != nil {
		return nil, err
	}
	text, ends := old, windows(old)
	if ends {
		text = toUnix(old)
	}
	edited := &Edited{}
	for i, e := range edits {
		if ends || !strings.Contains(text, "\r\n") {
			e.OldText, e.NewText = toUnix(e.OldText), toUnix(e.NewText)
		}
		if strings.Count(text, e.OldText) > 1 {
			edited.Ambiguous = append(edited.Ambiguous, i+1)
		}
		if text, err = applyOne(text, e); err != nil {
			return nil, fmt.Errorf("%s was not changed: edit %d: %w", Quote(rel), i+1, err)
		}
	}
	edited.Diff = Diff(f.Full(rel), toUnix(old), toUnix(text))
	if ends {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if !dry && text != old {
		if err := f.replace(rel, target, before, text); err != nil {
			return nil, err
		}
	}
	return edited, nil
}

// windows reports whether all lines end with a carriage return.
func windows(text string) bool {
	n := strings.Count(text, "\n")
	return n > 0 && n == strings.Count(text, "\r\n")
}

// toUnix ends all lines with one character.
func toUnix(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

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

// applyOne makes one edit: of the text itself or, if that does not occur, of lines that
// differ from it in white space at their ends only.
func applyOne(text string, e Edit) (string, error) {
	if e.OldText == "" {
		return "", errors.New("oldText is empty: give the text to replace")
	}
	if before, after, found := strings.Cut(text, e.OldText); found {
		return before + e.NewText + after, nil
	}
	old, lines := strings.Split(e.OldText, "\n"), strings.Split(text, "\n")
	for i := 0; i+len(old) <= len(lines); i++ {
		if alike(lines[i:i+len(old)], old) {
			fresh := reindent(strings.Split(e.NewText, "\n"), old, indentOf(lines[i]))
			return strings.Join(slices.Concat(lines[:i], fresh, lines[i+len(old):]), "\n"), nil
		}
	}
	return "", fmt.Errorf("could not find exact match for edit, even with other spaces at the ends of its lines: read the file and copy the text from it:\n%s", e.OldText)
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
	return line[:len(line)-len(strings.TrimLeftFunc(line, unicode.IsSpace))]
}

// reindent gives new lines the indentation that the first of the lines they replace
// has in the file. Where a line was indented before, the difference is kept.
func reindent(lines, old []string, indent string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		had, has := "", indentOf(line)
		if i < len(old) {
			had = indentOf(old[i])
		}
		switch text := line[len(has):]; {
		case i == 0:
			out[i] = indent + text
		case had != "" && has != "":
			out[i] = indent + strings.Repeat(" ", max(0, len(has)-len(had))) + text
		default:
			out[i] = line
		}
	}
	return out
}

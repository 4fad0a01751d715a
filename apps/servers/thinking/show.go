package thinking

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxShown is how much of a thought is shown.
const maxShown = 10_000

// show writes a thought for people, in a frame. A thought is text of a model: it
// cannot move the cursor or do anything else to a terminal.
func show(w io.Writer, th *thought) error {
	head := fmt.Sprintf("💭 Thought %d/%d", th.Number, th.Total)
	switch {
	case th.IsRevision:
		head = fmt.Sprintf("🔄 Revision %d/%d (revising thought %d)", th.Number, th.Total, th.RevisesThought)
	case th.BranchFromThought > 0:
		head = fmt.Sprintf("🌿 Branch %d/%d (from thought %d, ID: %s)", th.Number, th.Total, th.BranchFromThought, th.BranchID)
	}
	text := th.Text
	if len(text) > maxShown {
		text = text[:maxShown] + "…"
	}
	lines := append([]string{head}, strings.Split(text, "\n")...)
	width := 0
	for i, line := range lines {
		lines[i] = harmless(line)
		width = max(width, utf8.RuneCountInString(lines[i]))
	}
	border := strings.Repeat("─", width+2)
	var b strings.Builder
	fmt.Fprintf(&b, "\n┌%s┐\n", border)
	for i, line := range lines {
		if i == 1 {
			fmt.Fprintf(&b, "├%s┤\n", border)
		}
		fmt.Fprintf(&b, "│ %s%s │\n", line, strings.Repeat(" ", width-utf8.RuneCountInString(line)))
	}
	fmt.Fprintf(&b, "└%s┘\n", border)
	_, err := io.WriteString(w, b.String())
	return err
}

// harmless leaves out what is no text, and what changes the direction of text.
func harmless(line string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r == utf8.RuneError, !unicode.IsPrint(r), unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, line)
}

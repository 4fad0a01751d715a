package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A style is how text looks on a terminal.
type style string

// The styles.
const (
	plain  style = ""
	bold   style = "\x1b[1m"
	dim    style = "\x1b[2m"
	red    style = "\x1b[31m"
	green  style = "\x1b[32m"
	yellow style = "\x1b[33m"
)

const (
	reset     = "\x1b[0m"
	clearLine = "\r\x1b[K"
)

// A console is an output that may be a terminal. Any number of goroutines may
// use it; a line is written whole.
type console struct {
	terminal bool
	color    bool
	width    int // in characters; 0 when there is no terminal

	mu   sync.Mutex
	w    io.Writer
	live bool // the last line is one that the next replaces
}

func newConsole(w io.Writer) *console {
	c := &console{w: w}
	if f, ok := w.(*os.File); ok {
		c.width, c.terminal = terminalWidth(f)
	}
	_, noColor := os.LookupEnv("NO_COLOR")
	c.color = c.terminal && !noColor && os.Getenv("TERM") != "dumb"
	return c
}

// paint puts text in a style, if there is colour.
func (c *console) paint(s style, text string) string {
	if !c.color || s == plain || text == "" {
		return text
	}
	return string(s) + text + reset
}

// line writes text that is ours or a server's, and a newline.
func (c *console) line(s style, text string) {
	c.write([]byte(c.paint(s, c.clean(text)) + "\n"))
}

// linef is line with a format.
func (c *console) linef(s style, format string, args ...any) {
	c.line(s, fmt.Sprintf(format, args...))
}

// write writes bytes as they are.
func (c *console) write(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endLive()
	_, _ = c.w.Write(b) // a reader who is gone is no error of ours
}

// text writes a text of a server: as it is to a pipe or file, cleaned and with
// a newline at its end to a terminal.
func (c *console) text(text string) {
	if c.terminal {
		text = c.clean(text)
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
	}
	c.write([]byte(text))
}

// replace shows a line in the place of the last one that was shown this way.
// It is for terminals.
func (c *console) replace(text string) {
	text = strings.Join(strings.Fields(c.clean(text)), " ")
	if n := c.width - 1; n > 0 && utf8.RuneCountInString(text) > n {
		text = string([]rune(text)[:n-1]) + "…"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = io.WriteString(c.w, clearLine+text)
	c.live = true
}

// endLive takes the replaceable line away. The caller holds mu.
func (c *console) endLive() {
	if c.live {
		_, _ = io.WriteString(c.w, clearLine)
		c.live = false
	}
}

// settle takes the replaceable line away.
func (c *console) settle() { c.write(nil) }

// clean takes out of a text what would control the terminal it is shown on.
func (c *console) clean(text string) string {
	if !c.terminal {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, text)
}

// inline is clean for what stands in a line with other things: a server must not
// begin a line there, which could be taken for one of ours.
func (c *console) inline(text string) string {
	return c.clean(strings.Map(func(r rune) rune {
		switch r {
		case '\n', '\r', '\t', '\v', '\f', '\u0085', '\u2028', '\u2029':
			return ' '
		}
		return r
	}, text))
}

// firstLine returns the first line of a text that is not empty.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// wrap breaks a text of one line into lines of at most width characters, where
// there are spaces to break it at; 0 is as wide as needed.
func wrap(text string, width int) []string {
	if width <= 0 || utf8.RuneCountInString(text) <= width {
		return []string{text}
	}
	var lines []string
	var line strings.Builder
	length := 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		if length > 0 && length+1+n > width {
			lines = append(lines, line.String())
			line.Reset()
			length = 0
		}
		if length > 0 {
			line.WriteByte(' ')
			length++
		}
		line.WriteString(word)
		length += n
	}
	return append(lines, line.String())
}

// pad fills text up with spaces.
func pad(text string, width int) string {
	if n := width - utf8.RuneCountInString(text); n > 0 {
		return text + strings.Repeat(" ", n)
	}
	return text
}

// size says a number of bytes the way people do.
func size(n int64) string {
	units := []string{"B", "KB", "MB", "GB", "TB"}
	f, i := float64(n), 0
	for f >= 1000 && i < len(units)-1 {
		f, i = f/1000, i+1
	}
	if i == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", f, units[i])
}

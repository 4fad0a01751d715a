package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrymcp/ferry/mcp"
)

// A contentWriter shows content: text as it is, and bytes by a note, unless
// there is a file to write them to.
type contentWriter struct {
	program *program
	out     *console
	output  string // file for bytes; "-" is standard output
	texts   bool   // there was text
	open    bool   // the last text has no newline at its end
	written int    // files
}

// text writes a text. The texts of several blocks are kept apart by newlines.
func (w *contentWriter) text(text string) {
	if w.open {
		w.out.write([]byte("\n"))
	}
	w.texts = true
	w.out.text(text)
	w.open = !w.out.terminal && !strings.HasSuffix(text, "\n")
}

// heading writes a line between texts.
func (w *contentWriter) heading(text string) {
	if w.open {
		w.out.write([]byte("\n"))
		w.open = false
	}
	w.out.line(bold, text)
}

// finish ends the output of text with a newline.
func (w *contentWriter) finish() error {
	if w.open {
		w.out.write([]byte("\n"))
		w.open = false
	}
	if w.output != "" && w.written == 0 {
		return usagef("nothing to write to %s: the answer holds no bytes", w.output)
	}
	return nil
}

func (w *contentWriter) block(c mcp.Content) error {
	switch c.Type {
	case mcp.TypeText:
		w.text(c.Text)
	case mcp.TypeImage, mcp.TypeAudio:
		return w.bytes(c.Type, c.MIMEType, c.Data)
	case mcp.TypeResource:
		if c.Resource != nil {
			return w.resource(*c.Resource)
		}
	case mcp.TypeResourceLink:
		if c.Link != nil {
			w.text(c.Link.URI)
		}
	default:
		w.note("content of type %q, which is not shown; --json has it", c.Type)
	}
	return nil
}

func (w *contentWriter) resource(r mcp.ResourceContents) error {
	if r.Blob == nil {
		w.text(r.Text)
		return nil
	}
	return w.bytes(r.URI, r.MIMEType, r.Blob)
}

// bytes writes bytes to the file, or says that they are there.
func (w *contentWriter) bytes(what, mimeType string, data []byte) error {
	if mimeType == "" {
		mimeType = "unknown type"
	}
	if w.output == "" {
		w.note("%s: %s, %s; --output FILE writes it", what, mimeType, size(int64(len(data))))
		return nil
	}
	w.written++
	if w.output == "-" {
		w.program.out.write(data)
		return nil
	}
	name := w.output
	if w.written > 1 {
		ext := filepath.Ext(name)
		name = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ext), w.written, ext)
	}
	if err := os.WriteFile(name, data, 0o600); err != nil {
		return &usageError{err: err}
	}
	w.note("%s: %s, %s, written to %s", what, mimeType, size(int64(len(data))), name)
	return nil
}

func (w *contentWriter) note(format string, args ...any) {
	w.program.err.linef(dim, format, args...)
}

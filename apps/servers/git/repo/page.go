package repo

import (
	"bytes"
	"fmt"
	"strings"
)

// A Window is the part of a long text that a call returns.
type Window struct {
	// Skip is how many lines are left out at the beginning.
	Skip int
	// Lines is the most lines returned; 0 is as many as fit.
	Lines int
}

func (w Window) check() error {
	if w.Skip < 0 || w.Lines < 0 {
		return fmt.Errorf("offset and limit are numbers of lines and cannot be negative")
	}
	return nil
}

// A Page is a part of a text.
type Page struct {
	Text string
	// Next is how many lines to leave out for the part that follows; 0 means that
	// there is none.
	Next int
}

// pager keeps a window of what is written to it and then asks for no more.
type pager struct {
	window Window
	most   int // bytes
	kept   bytes.Buffer
	line   int // the number of the line being written, from 0
	start  int // where that line begins in kept
	more   bool
}

func (r *Repo) pager(w Window) *pager { return &pager{window: w, most: r.git.limits.Text} }

// Write keeps whole lines as long as they fit. Of a line that does not fit alone it
// keeps what does.
func (p *pager) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		if p.window.Lines > 0 && p.line >= p.window.Skip+p.window.Lines {
			p.more = true
			return len(b), errFull
		}
		piece, ended := rest, false
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			piece, ended = rest[:i+1], true
		}
		rest = rest[len(piece):]
		if p.line >= p.window.Skip {
			if room := p.most - p.kept.Len(); len(piece) > room {
				p.overflow(piece[:room])
				return len(b), errFull
			}
			p.kept.Write(piece)
		}
		if ended {
			p.line++
			p.start = p.kept.Len()
		}
	}
	return len(b), nil
}

// overflow ends the page before a line that does not fit, or in it when it is the
// only one.
func (p *pager) overflow(piece []byte) {
	p.more = true
	if p.start > 0 {
		p.kept.Truncate(p.start)
		return
	}
	p.kept.Write(piece)
	p.line++
}

// page returns what was kept. The line break at the end belongs to the output of a
// program and not to the text.
func (p *pager) page() Page {
	text := strings.TrimSuffix(strings.ToValidUTF8(p.kept.String(), "\uFFFD"), "\n")
	if !p.more {
		return Page{Text: text}
	}
	return Page{Text: text, Next: p.line}
}

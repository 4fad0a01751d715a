package repo

import (
	"bytes"
	"io"
	"strings"
)

// sections rewrites a patch: of the lines before the changes of a file it leaves the
// two names. After the last line comes a call of begin.
type sections struct {
	to      io.Writer
	line    []byte // a line of a header, as far as it has come
	content bool   // the changes of a file are being written
	pending bool   // the names of a file are still to be written
	broken  bool   // in the middle of a line of the changes
	a, b    string
}

// maxHeader is how long a line of a header can be.
const maxHeader = 64 << 10

// Write passes the changes on as they come and keeps a line of a header until it has
// ended.
func (s *sections) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		piece, ended := rest, false
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			piece, ended = rest[:i+1], true
		}
		rest = rest[len(piece):]
		if s.broken {
			s.broken = !ended
			if _, err := s.to.Write(piece); err != nil {
				return len(p), err
			}
			continue
		}
		s.line = append(s.line, piece...)
		if !ended && len(s.line) < maxHeader {
			continue
		}
		err := s.take(string(s.line))
		s.broken, s.line = !ended, s.line[:0]
		if err != nil {
			return len(p), err
		}
	}
	return len(p), nil
}

// take reads a line. Within the changes a line begins with a blank, a sign, a
// backslash or @@, so none of them looks like a header.
func (s *sections) take(line string) error {
	if names, ok := strings.CutPrefix(line, "diff --git "); ok {
		err := s.begin()
		s.content, s.pending = false, true
		s.a, s.b = split(strings.TrimRight(names, "\n"))
		return err
	}
	if !s.content && (strings.HasPrefix(line, "@@ ") || strings.HasPrefix(line, "Binary files ")) {
		s.content = true
		if err := s.begin(); err != nil {
			return err
		}
	}
	if s.content {
		_, err := io.WriteString(s.to, line)
		return err
	}
	s.rename(strings.TrimRight(line, "\n"))
	return nil
}

// rename reads a line that tells a name better than the first line does.
func (s *sections) rename(line string) {
	for _, header := range []struct {
		prefix string
		name   *string
		folder string
	}{
		{"--- ", &s.a, "a/"},
		{"+++ ", &s.b, "b/"},
		{"rename from ", &s.a, ""},
		{"rename to ", &s.b, ""},
		{"copy from ", &s.a, ""},
		{"copy to ", &s.b, ""},
	} {
		name, ok := strings.CutPrefix(line, header.prefix)
		if name = strings.TrimSuffix(name, "\t"); ok && name != "/dev/null" {
			*header.name = unquote(name, header.folder)
		}
	}
}

// begin writes the names of a file, once.
func (s *sections) begin() error {
	if !s.pending {
		return nil
	}
	s.pending = false
	_, err := io.WriteString(s.to, "\n--- "+s.a+"\n+++ "+s.b+"\n")
	return err
}

// split finds the two names of "a/x b/x". They are the same unless a line of their own
// tells them.
func split(names string) (a, b string) {
	if strings.HasPrefix(names, `"`) {
		if first, second, ok := strings.Cut(names, `" "`); ok {
			return unquote(first+`"`, "a/"), unquote(`"`+second, "b/")
		}
	}
	if half := len(names) / 2; len(names)%2 == 1 && names[half] == ' ' {
		return strings.TrimPrefix(names[:half], "a/"), strings.TrimPrefix(names[half+1:], "b/")
	}
	return names, names
}

// unquote takes the quotes off a name that git has quoted, and the folder.
func unquote(name, folder string) string {
	if len(name) < 2 || name[0] != '"' || name[len(name)-1] != '"' {
		return strings.TrimPrefix(name, folder)
	}
	name = name[1 : len(name)-1]
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] != '\\' || i+1 == len(name) {
			b.WriteByte(name[i])
			continue
		}
		i++
		if c := name[i]; '0' <= c && c <= '3' && i+2 < len(name) {
			b.WriteByte((c-'0')<<6 | (name[i+1]-'0')<<3 | name[i+2] - '0')
			i += 2
		} else if at := strings.IndexByte("abtnvfr", c); at >= 0 {
			b.WriteByte("\a\b\t\n\v\f\r"[at])
		} else {
			b.WriteByte(c)
		}
	}
	return strings.TrimPrefix(b.String(), folder)
}

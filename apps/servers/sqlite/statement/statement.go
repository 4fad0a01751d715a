// Package statement reads a statement of SQL as far as it takes to tell what kind it
// is, that it is only one, and that it does not reach out of the database.
package statement

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// A Statement is the words and signs of a statement of SQL: keywords and names in
// small letters without quotes, texts and numbers as one sign.
type Statement []token

type token struct {
	text   string
	quoted bool // a name in quotes, which is no keyword
}

// MaxText bounds the text of a statement.
const MaxText = 1 << 20

// Parse reads one statement, and returns its text without the semicolon after it. A
// second one is refused, wherever it hides; what is in comments and texts is not
// looked at.
func Parse(sql string) (s Statement, text string, err error) {
	if len(sql) > MaxText {
		return nil, "", fmt.Errorf("the statement is over %d bytes", MaxText)
	}
	text = sql
	ended := false
	for rest := sql; ; {
		t, after, err := next(rest)
		if err != nil {
			return nil, "", err
		}
		rest = after
		switch {
		case t.text == "" && !t.quoted:
			if len(s) == 0 {
				return nil, "", errors.New("there is no statement: write one of SQL")
			}
			return s, text, nil
		case t.text == ";" && !t.quoted:
			if len(s) == 0 {
				return nil, "", errors.New("the statement is empty: write one before the semicolon")
			}
			if !ended {
				text = sql[:len(sql)-len(rest)-1]
			}
			ended = true
		case ended:
			return nil, "", errors.New("there is more than one statement: send one at a time")
		default:
			s = append(s, t)
		}
	}
}

// next takes the next token off a text; an empty one is the end.
func next(s string) (t token, rest string, err error) {
	for {
		s = strings.TrimLeft(s, " \t\n\f\r\ufeff")
		switch {
		case s == "":
			return token{}, "", nil
		case strings.HasPrefix(s, "--"):
			_, s, _ = strings.Cut(s, "\n")
		case strings.HasPrefix(s, "/*"):
			_, s, _ = strings.Cut(s[2:], "*/")
		default:
			return word(s)
		}
	}
}

// word takes a token off a text that begins with one.
func word(s string) (t token, rest string, err error) {
	switch c := s[0]; {
	case c == 0:
		return t, "", errors.New("the statement holds a zero byte")
	case c == '\'':
		_, rest, err = quotedTo(s, '\'')
		return token{text: "'"}, rest, err
	case c == '"' || c == '`':
		name, rest, err := quotedTo(s, c)
		return token{strings.ToLower(name), true}, rest, err
	case c == '[':
		name, rest, ok := strings.Cut(s[1:], "]")
		if !ok {
			return t, "", errors.New("a name in brackets does not end")
		}
		return token{strings.ToLower(name), true}, rest, nil
	}
	end := strings.IndexFunc(s, func(r rune) bool {
		return r < 0x80 && r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	switch {
	case end < 0:
		return token{text: strings.ToLower(s)}, "", nil
	case end == 0:
		return token{text: s[:1]}, s[1:], nil
	}
	return token{text: strings.ToLower(s[:end])}, s[end:], nil
}

// quotedTo takes what is in quotes off a text; two quotes in it stand for one.
func quotedTo(s string, quote byte) (inside, rest string, err error) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != quote {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == quote {
			b.WriteByte(quote)
			i++
			continue
		}
		return b.String(), s[i+1:], nil
	}
	return "", "", fmt.Errorf("a text or name in %c does not end", quote)
}

// Word is the first word.
func (s Statement) Word() string { return s[0].text }

// Begins reports whether the statement begins with keywords.
func (s Statement) Begins(words ...string) bool {
	for i, w := range words {
		if i >= len(s) || s[i].quoted || s[i].text != w {
			return false
		}
	}
	return true
}

// Reads reports whether a statement can be one that only reads.
func (s Statement) Reads() bool { return s.Begins("select") || s.Begins("with") || s.Begins("values") }

// refused are names that reach files or other programs, or the settings of the
// engine, from within a statement.
var refused = map[string]string{
	"load_extension": "loads programs", "readfile": "reads files", "writefile": "writes files", "edit": "starts programs",
	"fts3_tokenizer": "calls into memory", "sqlite_dbpage": "writes pages of the file",
	"zipfile": "reads files", "fsdir": "reads folders", "lsdir": "reads folders", "csv": "reads files",
}

// Check refuses what a statement must not hold, at any place.
func (s Statement) Check() error {
	for i, t := range s {
		if !t.quoted && i == 0 {
			switch t.text {
			case "attach", "detach", "pragma", "vacuum", "begin", "commit", "end", "rollback", "savepoint", "release", "reindex", "analyze", "explain":
				return fmt.Errorf("%s is not allowed here: the tools read, change and describe tables of one database", strings.ToUpper(t.text))
			}
		}
		if strings.HasPrefix(t.text, "pragma_") {
			return fmt.Errorf("%s is not allowed here: use describe_table", t.text)
		}
		if why := refused[t.text]; why != "" && i+1 < len(s) && s[i+1].text == "(" {
			return fmt.Errorf("%s is not allowed here, since it %s", t.text, why)
		}
	}
	if s.Begins("create", "virtual") {
		return errors.New("virtual tables are not allowed here: they can reach files")
	}
	return nil
}

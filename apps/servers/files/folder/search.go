package folder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// Found is what a search for names gave.
type Found struct {
	// Paths are relative to the Folder.
	Paths []string
	// More is how many others matched.
	More int
	Cut  Cut
}

// Find finds files and folders whose path below start matches a pattern:
// * stands for any name, ** for any folders. Links are not followed; those for which
// show is false are left out.
func (f *Folder) Find(ctx context.Context, start, pattern string, walk Walk, show func(rel string) bool) (Found, error) {
	rel, err := f.relative(start)
	if err != nil {
		return Found{}, err
	}
	if err := walk.check(); err != nil {
		return Found{}, err
	}
	wanted, err := newGlob(pattern)
	if err != nil {
		return Found{}, err
	}
	globs, err := exactly(walk.Exclude)
	if err != nil {
		return Found{}, err
	}
	list, cut, err := f.scan(ctx, rel, walk, anyOf(globs))
	if err != nil {
		return Found{}, err
	}
	found := Found{Cut: cut}
	err = list.visit(".", func(name string, e Entry) error {
		if !wanted.match(name) {
			return nil
		}
		name = join(rel, name)
		switch {
		case e.Type&fs.ModeSymlink != 0 && !show(name):
		case len(found.Paths) >= f.limits.Results:
			found.More++
		default:
			found.Paths = append(found.Paths, name)
		}
		return nil
	})
	return found, err
}

// A Query says what to look for in files.
type Query struct {
	Path       string // a folder, or one file
	Expression string // a regular expression in the syntax of RE2, for one line
	IgnoreCase bool
	Include    string // pattern for the paths of files; empty for all
	Walk              // where to look
	Results    int    // at most the limit; 0 for the limit
}

// A Match is a line that matched.
type Match struct {
	Path string
	Line int
	Text string
}

// Matches is what a search in files gave.
type Matches struct {
	List []Match
	// Full tells that the search ended because List has as many as it may.
	Full bool
	// Files were searched; Skipped were not, because they are not text or too large.
	Files, Skipped int
	Cut            Cut
}

const (
	// maxExpression bounds an expression's length, and maxSteps what it can
	// become: each character of a line can cost as many steps.
	maxExpression = 1024
	maxSteps      = 10_000
	// maxAtOnce is how many steps a line may cost to be searched at once, which
	// cannot be cancelled.
	maxAtOnce = 50_000_000
	// maxLine is how much of a line is shown.
	maxLine = 400
)

// compile makes an expression of a query.
func (q *Query) compile() (re *regexp.Regexp, steps int, err error) {
	text := q.Expression
	switch {
	case text == "":
		return nil, 0, errors.New("the expression is empty: give a regular expression, such as func \\w+")
	case len(text) > maxExpression:
		return nil, 0, fmt.Errorf("the expression is over %d bytes", maxExpression)
	}
	if q.IgnoreCase {
		text = "(?i)" + text
	}
	re, err = regexp.Compile(text)
	if err != nil {
		return nil, 0, fmt.Errorf("the expression is not valid: %w: the syntax is that of RE2, which has no backreferences and no lookaround; "+
			`write a backslash before . ( [ { + * ? to take them as they are`, err)
	}
	if steps = stepsOf(text); steps > maxSteps {
		return nil, 0, errors.New("the expression costs too much: use smaller counts in braces")
	}
	return re, steps, nil
}

// stepsOf is how many steps a valid expression can cost for each character.
func stepsOf(text string) int {
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return 0
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0
	}
	return len(prog.Inst)
}

// Search finds the lines that match an expression in the files of a folder.
func (f *Folder) Search(ctx context.Context, q Query) (Matches, error) {
	rel, err := f.relative(q.Path)
	if err != nil {
		return Matches{}, err
	}
	re, steps, err := q.compile()
	if err != nil {
		return Matches{}, err
	}
	if q.Include != "" {
		if err := checkPattern(q.Include); err != nil {
			return Matches{}, err
		}
	}
	if q.Results <= 0 || q.Results > f.limits.Results {
		q.Results = f.limits.Results
	}
	s := &search{Folder: f, re: re, steps: steps, limit: q.Results}
	info, err := f.stat(rel)
	if err != nil {
		return Matches{}, err
	}
	if !info.IsDir() {
		if err := plain(rel, info); err != nil {
			return Matches{}, err
		}
		return s.matches, stopped(s.file(ctx, rel))
	}
	if err := q.check(); err != nil {
		return Matches{}, err
	}
	excluded, err := names(q.Exclude)
	if err != nil {
		return Matches{}, err
	}
	list, cut, err := f.scan(ctx, rel, q.Walk, excluded)
	if err != nil {
		return Matches{}, err
	}
	err = list.visit(".", func(name string, e Entry) error {
		if !e.Type.IsRegular() || !q.includes(name) {
			return nil
		}
		return s.file(ctx, join(rel, name))
	})
	s.matches.Cut = cut
	return s.matches, stopped(err)
}

// includes reports whether a file is to be searched: a pattern without a slash
// is for names anywhere.
func (q *Query) includes(name string) bool {
	return q.Include == "" || doublestar.MatchUnvalidated(q.Include, name) ||
		!strings.Contains(q.Include, "/") && doublestar.MatchUnvalidated(q.Include, path.Base(name))
}

// stopped makes no error of a search that is full.
func stopped(err error) error {
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

// search is a search in progress.
type search struct {
	*Folder
	re      *regexp.Regexp
	steps   int // what re can cost for each character
	limit   int
	matches Matches
}

// file searches one file. Files that cannot be read are counted and passed over.
func (s *search) file(ctx context.Context, name string) error {
	data, ok := s.load(name)
	if !ok {
		s.matches.Skipped++
		return nil
	}
	s.matches.Files++
	if prefix, _ := s.re.LiteralPrefix(); !bytes.Contains(data, []byte(prefix)) {
		return nil
	}
	for number := 1; len(data) > 0; number++ {
		var line []byte
		line, data, _ = bytes.Cut(data, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		at := s.find(ctx, line)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if at == nil {
			continue
		}
		if len(s.matches.List) >= s.limit {
			s.matches.Full = true
			return errStop
		}
		s.matches.List = append(s.matches.List, Match{name, number, around(line, at[0])})
	}
	return nil
}

// find finds the expression in a line. What it returns when ctx ends means nothing.
func (s *search) find(ctx context.Context, line []byte) []int {
	if len(line)*s.steps < maxAtOnce {
		return s.re.FindIndex(line)
	}
	return s.re.FindReaderIndex(&lineReader{ctx: ctx, rest: line})
}

// A lineReader gives the characters of a line, which ends early when ctx does.
type lineReader struct {
	ctx  context.Context
	rest []byte
	read int
}

// ReadRune implements io.RuneReader.
func (r *lineReader) ReadRune() (char rune, size int, err error) {
	if r.read%256 == 0 && r.ctx.Err() != nil || len(r.rest) == 0 {
		return 0, 0, io.EOF
	}
	r.read++
	char, size = utf8.DecodeRune(r.rest)
	r.rest = r.rest[size:]
	return char, size, nil
}

// load reads a file if it is text and not too large.
func (s *search) load(name string) ([]byte, bool) {
	file, info, err := s.open(name)
	if err != nil {
		return nil, false
	}
	defer file.Close()
	if info.Size() > s.limits.File || s.refuseBinary(name, file) != nil {
		return nil, false
	}
	data, err := readAll(file, s.limits.File)
	return data, err == nil
}

// around shows a line, or what is around an offset of it if it is long.
func around(line []byte, at int) string {
	if len(line) <= maxLine {
		return strings.ToValidUTF8(string(line), "\uFFFD")
	}
	start := max(0, min(at-maxLine/4, len(line)-maxLine))
	text := strings.ToValidUTF8(string(line[start:start+maxLine]), "")
	if start > 0 {
		text = "…" + text
	}
	if start+maxLine < len(line) {
		text += "…"
	}
	return text
}

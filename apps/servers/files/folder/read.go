package folder

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// Lines says which lines of a file to read. At most one of Head, Tail and the
// pair of Offset and Limit is used; none of them means the whole file.
type Lines struct {
	Head   int // the first lines
	Tail   int // the last lines
	Offset int // the number of the first line, from 1
	Limit  int // how many lines from Offset; 0 means all
}

func (l Lines) check() error {
	if l.Head < 0 || l.Tail < 0 || l.Offset < 0 || l.Limit < 0 {
		return errors.New("head, tail, offset and limit cannot be negative")
	}
	ways := 0
	for _, used := range []bool{l.Head > 0, l.Tail > 0, l.Offset > 0 || l.Limit > 0} {
		if used {
			ways++
		}
	}
	if ways > 1 {
		return errors.New("choose one of head, tail, and offset with limit")
	}
	return nil
}

func (l Lines) all() bool { return l == Lines{} }

// ReadText reads a file that holds text, or some lines of it. Line ends are
// given as they are.
func (f *Folder) ReadText(ctx context.Context, name string, lines Lines) (string, error) {
	if err := lines.check(); err != nil {
		return "", err
	}
	rel, err := f.relative(name)
	if err != nil {
		return "", err
	}
	file, info, err := f.open(rel)
	if err != nil {
		return "", err
	}
	defer file.Close()
	if err := f.refuseBinary(rel, file); err != nil {
		return "", err
	}
	var text []byte
	switch {
	case lines.all():
		if info.Size() > f.limits.Text {
			return "", f.tooLong(rel, info.Size())
		}
		text, err = readAll(file, f.limits.Text)
		if errors.Is(err, errTooLong) {
			return "", f.tooLong(rel, info.Size())
		}
	case lines.Tail > 0:
		text, err = f.tail(ctx, file, lines.Tail)
	default:
		text, err = f.part(ctx, file, max(lines.Offset, 1), max(lines.Head, lines.Limit))
	}
	if err != nil {
		return "", f.explain(rel, err)
	}
	if !utf8.Valid(text) {
		return "", notText(rel)
	}
	return string(text), nil
}

// tooLong tells how to read a file that is too long for one call.
func (f *Folder) tooLong(name string, size int64) error {
	return fmt.Errorf("%s has %s, and one call returns at most %s: read it in parts with head, tail, or offset and limit (in lines)",
		Quote(name), bytesOf(size), bytesOf(f.limits.Text))
}

// notText tells that a file is not text.
func notText(name string) error {
	return fmt.Errorf("%s is not text in UTF-8: read_media_file gives its bytes", Quote(name))
}

// errTooLong tells that a file holds more than it may.
var errTooLong = errors.New("too long")

// readAll reads up to a limit. Some files hold more than they say, others
// grow while they are read.
func readAll(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = errTooLong
	}
	return data, err
}

// sniffed is how much of a file tells whether it is text.
const sniffed = 8 << 10

// refuseBinary looks at the beginning of a file and goes back to it.
func (f *Folder) refuseBinary(name string, file *os.File) error {
	head := make([]byte, sniffed)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return f.explain(name, err)
	}
	if !isText(head[:n], n < sniffed) {
		return notText(name)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return f.explain(name, err)
	}
	return nil
}

// isText reports whether bytes are text in UTF-8. Unless they are the whole of
// it, the last character may be cut.
func isText(b []byte, whole bool) bool {
	if bytes.IndexByte(b, 0) >= 0 {
		return false
	}
	if !whole {
		for cut := 1; cut < utf8.UTFMax && cut <= len(b); cut++ {
			if start := len(b) - cut; utf8.RuneStart(b[start]) {
				if !utf8.FullRune(b[start:]) {
					b = b[:start]
				}
				break
			}
		}
	}
	return utf8.Valid(b)
}

// part reads lines from a number on; a count of 0 means to the end.
func (f *Folder) part(ctx context.Context, r io.Reader, first, count int) ([]byte, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	var out []byte
	for line := 1; count == 0 || line < first+count; {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		// A long line comes in pieces: only what is asked for is kept.
		piece, err := in.ReadSlice('\n')
		if line >= first {
			out = append(out, piece...)
		}
		if int64(len(out)) > f.limits.Text {
			return nil, f.partTooLong()
		}
		switch {
		case err == nil:
			line++
		case errors.Is(err, io.EOF):
			if line < first || (line == first && len(out) == 0 && first > 1) {
				return nil, fmt.Errorf("offset %d is after the end: the file has %d lines", first, line-1+min(1, len(piece)))
			}
			return out, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
	return out, nil
}

func (f *Folder) partTooLong() error {
	return fmt.Errorf("these lines have over %s, which is the most that one call returns: ask for fewer lines", bytesOf(f.limits.Text))
}

// tail reads the last lines, going backwards from the end, so that a long file
// costs no more than a short one.
func (f *Folder) tail(ctx context.Context, file *os.File, count int) ([]byte, error) {
	end, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	const block = 64 << 10
	var out []byte
	for pos := end; pos > 0; {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		size := min(pos, block)
		pos -= size
		chunk := make([]byte, size, size+int64(len(out)))
		if _, err := file.ReadAt(chunk, pos); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		out = append(chunk, out...)
		if start, ok := lastLines(out, count); ok {
			out = out[start:]
			pos = 0
		} else if int64(len(out)) > f.limits.Text {
			return nil, f.partTooLong()
		}
	}
	if int64(len(out)) > f.limits.Text {
		return nil, f.partTooLong()
	}
	return out, nil
}

// lastLines finds where the last lines begin, if so many are there.
func lastLines(b []byte, count int) (int, bool) {
	end := len(b)
	if end > 0 && b[end-1] == '\n' {
		end--
	}
	for range count {
		i := bytes.LastIndexByte(b[:end], '\n')
		if i < 0 {
			return 0, false
		}
		end = i
	}
	return end + 1, true
}

// Bytes is a file as it is, with its type.
type Bytes struct {
	Data     []byte
	MIMEType string
}

// ReadBytes reads a file of any content.
func (f *Folder) ReadBytes(name string) (Bytes, error) {
	rel, err := f.relative(name)
	if err != nil {
		return Bytes{}, err
	}
	file, info, err := f.open(rel)
	if err != nil {
		return Bytes{}, err
	}
	defer file.Close()
	data, err := readAll(file, f.limits.Media)
	if errors.Is(err, errTooLong) {
		return Bytes{}, fmt.Errorf("%s has %s, and at most %s are returned as bytes", Quote(rel), bytesOf(max(info.Size(), int64(len(data)))), bytesOf(f.limits.Media))
	}
	if err != nil {
		return Bytes{}, f.explain(rel, err)
	}
	return Bytes{data, mimeType(rel, data)}, nil
}

// Text reports whether the bytes are text in UTF-8, all of them.
func (b Bytes) Text() bool { return isText(b.Data, true) }

// bytesOf writes a size for people.
func bytesOf(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return trimZero(float64(n)/(1<<10)) + " KiB"
	case n < 1<<30:
		return trimZero(float64(n)/(1<<20)) + " MiB"
	}
	return trimZero(float64(n)/(1<<30)) + " GiB"
}

func trimZero(x float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", x), ".0") }

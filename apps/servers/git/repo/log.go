package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Commit is what a history tells of one commit.
type Commit struct {
	Hash, Author, Email string
	// Date is when it was written, by the author's clock; Shown is the same as git
	// writes it for people.
	Date    time.Time
	Shown   string
	Subject string
	// Message is the whole message.
	Message string
}

// A Log says which commits to list.
type Log struct {
	// Max is the most commits, Skip how many are left out before.
	Max, Skip int
	// Since and Until, unless empty, are dates as git knows them: "2 weeks ago",
	// "2026-01-15".
	Since, Until string
	// Path, unless empty, limits the list to commits that change it.
	Path string
}

// maxCommits bounds how many commits one call lists.
const maxCommits = 10_000

// format writes a commit as fields that end in zero bytes.
const format = "%H%x00%an%x00%ae%x00%aI%x00%ad%x00%s%x00%B%x00"

const fields = 7

// Commits lists the history of what is checked out, newest first, and reports whether
// there is more.
func (r *Repo) Commits(ctx context.Context, l Log) (list []Commit, more bool, err error) {
	switch {
	case l.Max < 1 || l.Max > maxCommits:
		return nil, false, fmt.Errorf("max_count is %d: it is a number from 1 to %d", l.Max, maxCommits)
	case l.Skip < 0:
		return nil, false, fmt.Errorf("skip is %d: it is a number of commits and cannot be negative", l.Skip)
	}
	head, err := r.commit(ctx, "revision", "HEAD")
	if err != nil {
		return nil, false, err
	}
	args := []string{"log", "--max-count=" + strconv.Itoa(l.Max+1), "--skip=" + strconv.Itoa(l.Skip)}
	for _, date := range []struct{ option, name, value string }{
		{"--since=", "start_timestamp", l.Since}, {"--until=", "end_timestamp", l.Until},
	} {
		if date.value == "" {
			continue
		}
		if err := checkName(date.name, date.value); err != nil {
			return nil, false, err
		}
		args = append(args, date.option+date.value)
	}
	path := ""
	if l.Path != "" {
		if path, err = r.relative(l.Path); err != nil {
			return nil, false, err
		}
	}
	list, cut, err := r.list(ctx, args, head, path)
	if len(list) > l.Max {
		list, cut = list[:l.Max], true
	}
	return list, cut, err
}

// list runs git log. What is over the limit is cut, but for one commit.
func (r *Repo) list(ctx context.Context, args []string, revision, path string) (list []Commit, cut bool, err error) {
	args = append(args, "--no-color", "--no-decorate", "--no-show-signature", "--no-patch", "--date=default",
		"--format=tformat:"+format, revision, "--")
	if path != "" {
		args = append(args, path)
	}
	out := &filling{most: r.git.limits.Text}
	if err := r.run(ctx, process{args: args, out: out}); err != nil {
		return nil, false, err
	}
	values := strings.Split(strings.ToValidUTF8(out.String(), "\uFFFD"), "\x00")
	for len(values) >= fields {
		c := Commit{
			Hash: strings.TrimSpace(values[0]), Author: values[1], Email: values[2],
			Shown: values[4], Subject: values[5], Message: values[6],
		}
		c.Date, _ = time.Parse(time.RFC3339, values[3]) // one that is no date is shown as none
		list = append(list, c)
		values = values[fields:]
	}
	if len(list) == 0 && out.full {
		return nil, false, errors.New("the message of the next commit is too long to be shown: leave it out with skip")
	}
	return list, out.full, nil
}

// filling keeps what fits and then asks for no more.
type filling struct {
	bytes.Buffer
	most int
	full bool
}

func (f *filling) Write(b []byte) (int, error) {
	if room := f.most - f.Len(); len(b) > room {
		f.full = true
		f.Buffer.Write(b[:room])
		return len(b), errFull
	}
	return f.Buffer.Write(b)
}

// Show returns a commit, and what it changed against its first parent, as a patch in
// which every file begins with --- and +++.
func (r *Repo) Show(ctx context.Context, revision string, w Window) (Commit, Page, error) {
	if err := w.check(); err != nil {
		return Commit{}, Page{}, err
	}
	id, err := r.commit(ctx, "revision", revision)
	if err != nil {
		return Commit{}, Page{}, err
	}
	list, _, err := r.list(ctx, []string{"log", "--max-count=1"}, id, "")
	if err != nil {
		return Commit{}, Page{}, err
	}
	if len(list) != 1 {
		return Commit{}, Page{}, fmt.Errorf("git told nothing of commit %s", id)
	}
	parent, err := r.text(ctx, "rev-parse", "--verify", "--quiet", id+"^1^{commit}")
	if _, ok := errors.AsType[*CommandError](err); err != nil && !ok {
		return Commit{}, Page{}, err
	}
	args := append([]string{"diff-tree", "-r", "-p", "--find-renames", "--full-index", "--src-prefix=a/", "--dst-prefix=b/"}, plain(3)...)
	if isID(parent) {
		args = append(args, parent, id)
	} else {
		args = append(args, "--root", "--no-commit-id", id)
	}
	page := r.pager(w)
	patch := &sections{to: page}
	if err := r.run(ctx, process{args: append(args, "--"), out: patch}); err != nil {
		return Commit{}, Page{}, err
	}
	if err := patch.begin(); err != nil && !errors.Is(err, errFull) {
		return Commit{}, Page{}, err
	}
	return list[0], page.page(), nil
}

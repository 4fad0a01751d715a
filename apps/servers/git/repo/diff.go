package repo

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A Diff says what to compare.
type Diff struct {
	// Staged compares what is staged with the last commit; otherwise the files are
	// compared with what is staged, or with Target.
	Staged bool
	// Target is a branch, tag or commit, or two of them with .. or ... between.
	Target string
	// Context is how many lines are shown around a change.
	Context int
	// Path, unless empty, limits the comparison to a file or folder.
	Path string
	Window
}

// maxContext bounds the lines around a change.
const maxContext = 100_000

// plain are the options of everything that shows differences.
func plain(context int) []string {
	return []string{
		"--no-color", "--no-ext-diff", "--no-textconv", "--submodule=short", "--ignore-submodules=dirty",
		"--unified=" + strconv.Itoa(context),
	}
}

// Status describes the working tree, as git does it for people.
func (r *Repo) Status(ctx context.Context, w Window) (Page, error) {
	if err := w.check(); err != nil {
		return Page{}, err
	}
	out := r.pager(w)
	err := r.run(ctx, process{args: []string{"status", "--ignore-submodules=dirty"}, out: out})
	return out.page(), err
}

// Diff returns differences as a patch.
func (r *Repo) Diff(ctx context.Context, d Diff) (Page, error) {
	if d.Context < 0 || d.Context > maxContext {
		return Page{}, fmt.Errorf("context_lines is %d: it is a number of lines from 0 to %d", d.Context, maxContext)
	}
	if err := d.check(); err != nil {
		return Page{}, err
	}
	args := append([]string{"diff"}, plain(d.Context)...)
	if d.Staged {
		args = append(args, "--cached")
	}
	if d.Target != "" {
		ids, err := r.compared(ctx, d.Target)
		if err != nil {
			return Page{}, err
		}
		args = append(args, ids)
	}
	args = append(args, "--")
	if d.Path != "" {
		path, err := r.relative(d.Path)
		if err != nil {
			return Page{}, err
		}
		args = append(args, path)
	}
	out := r.pager(d.Window)
	err := r.run(ctx, process{args: args, out: out})
	return out.page(), err
}

// compared resolves what differences are asked for.
func (r *Repo) compared(ctx context.Context, target string) (string, error) {
	if err := checkName("target", target); err != nil {
		return "", err
	}
	for _, dots := range []string{"...", ".."} {
		from, to, ok := strings.Cut(target, dots)
		if !ok {
			continue
		}
		var ids [2]string
		for i, name := range [2]string{from, to} {
			if name == "" {
				name = "HEAD"
			}
			var err error
			if ids[i], err = r.commit(ctx, "target", name); err != nil {
				return "", err
			}
		}
		return ids[0] + dots + ids[1], nil
	}
	return r.commit(ctx, "target", target)
}

// Branches are what git_branch may list.
type Branches struct {
	// Remote and All choose other branches than the local ones.
	Remote, All bool
	// Contains and Without, unless empty, name a commit that the branches have, or
	// have not.
	Contains, Without string
}

// Branches lists branches, as git does it for people.
func (r *Repo) Branches(ctx context.Context, b Branches) (Page, error) {
	args := []string{"branch", "--list", "--no-color"}
	switch {
	case b.All:
		args = append(args, "--all")
	case b.Remote:
		args = append(args, "--remotes")
	}
	for _, filter := range []struct{ option, name string }{{"--contains=", b.Contains}, {"--no-contains=", b.Without}} {
		if filter.name == "" {
			continue
		}
		id, err := r.commit(ctx, "commit", filter.name)
		if err != nil {
			return Page{}, err
		}
		args = append(args, filter.option+id)
	}
	out := r.pager(Window{})
	err := r.run(ctx, process{args: args, out: out})
	return out.page(), err
}

// Names lists the names of branches and tags, the newest first, as many as there may
// be at most.
func (r *Repo) Names(ctx context.Context, most int) ([]string, error) {
	text, err := r.text(ctx, "for-each-ref", "--count="+strconv.Itoa(most), "--sort=-creatordate",
		"--format=%(refname:short)", "refs/heads", "refs/remotes", "refs/tags")
	if err != nil || text == "" {
		return nil, err
	}
	return strings.Split(text, "\n"), nil
}

// Current returns the branch that is checked out; empty when it is a commit.
func (r *Repo) Current(ctx context.Context) (string, error) {
	name, err := r.text(ctx, "symbolic-ref", "--quiet", "--short", "HEAD")
	if _, ok := errors.AsType[*CommandError](err); ok {
		return "", nil
	}
	return name, err
}

// Command regress compares what requests allocate with what they allocated in
// the previous commit, and fails when a path needs over 5 % more. Where the
// system counts instructions it compares those too. It measures both with the
// program hotpath of now, built in a worktree of the previous commit; where that
// cannot be built, or there is no previous commit, it says so and compares
// nothing.
//
// A commit that has to cost more says so in a line of its message,
//
//	Costs-More: conn echo
//
// and why in the lines above it.
//
//	go run ./regress -base HEAD^
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"text/tabwriter"
)

func main() {
	c := &comparison{out: os.Stdout}
	flag.StringVar(&c.base, "base", "HEAD^", "the commit to compare with")
	flag.StringVar(&c.module, "module", "bench", "the folder of the module with the program, in the repository")
	flag.StringVar(&c.program, "program", "hotpath", "the folder of the program, in the module")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := c.run(ctx)
	stop()
	var skipped skipError
	switch {
	case errors.As(err, &skipped):
		fmt.Println("skipped:", skipped)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A skipError says why there is nothing to compare.
type skipError string

func (e skipError) Error() string { return string(e) }

// run measures both commits and returns an error if there is a regression.
func (c *comparison) run(ctx context.Context) (err error) {
	repo := &repository{}
	if repo.dir, err = git(ctx, ".", "rev-parse", "--show-toplevel"); err != nil {
		return skipError("this is no git repository")
	}
	if c.base, err = git(ctx, repo.dir, "rev-parse", "--verify", "--quiet", c.base+"^{commit}"); err != nil {
		return skipError("there is no previous commit here to compare with")
	}
	tmp, err := os.MkdirTemp("", "regress-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	now, before := filepath.Join(tmp, "now"), filepath.Join(tmp, "before")
	if runtime.GOOS == "windows" {
		now, before = now+".exe", before+".exe"
	}
	source := filepath.Join(repo.dir, c.module)
	if err := build(ctx, source, c.program, now); err != nil {
		return err
	}
	tree := filepath.Join(tmp, "tree")
	if _, err := git(ctx, repo.dir, "worktree", "add", "--detach", "--force", tree, c.base); err != nil {
		return err
	}
	defer func() {
		_, gone := git(context.WithoutCancel(ctx), repo.dir, "worktree", "remove", "--force", tree)
		err = errors.Join(err, gone)
	}()
	if err := overlay(source, filepath.Join(tree, c.module), c.program); err != nil {
		return err
	}
	if err := build(ctx, filepath.Join(tree, c.module), c.program, before); err != nil {
		return skipError("what measures cannot be built with the previous commit: " + err.Error())
	}
	if c.accepted, err = repo.accepted(ctx, c.base); err != nil {
		return err
	}
	return c.compare(ctx, before, now)
}

// compare measures with the two programs and prints a table.
func (c *comparison) compare(ctx context.Context, before, now string) error {
	was, err := measure(ctx, before)
	if err != nil {
		return fmt.Errorf("measure the previous commit: %w", err)
	}
	is, err := measure(ctx, now)
	if err != nil {
		return err
	}
	if !countsInstructions(is) {
		fmt.Fprintln(c.out, "the system does not count instructions: allocations alone are compared")
	}
	t := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "path\tallocations\tbytes\tinstructions\t")
	var worse []error
	for _, now := range is {
		line, err := c.line(find(was, now.Path), now)
		fmt.Fprintln(t, line)
		if err != nil {
			worse = append(worse, err)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return errors.Join(worse...)
}

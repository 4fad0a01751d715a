package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
)

// Commit records what is staged and returns the id of the commit.
func (r *Repo) Commit(ctx context.Context, message string) (id string, err error) {
	if strings.TrimSpace(message) == "" {
		return "", errors.New("the message is empty: say what the commit does")
	}
	if strings.ContainsRune(message, 0) {
		return "", errors.New("the message holds a zero byte")
	}
	err = r.change(ctx, func() error {
		if err := r.headStraight(ctx); err != nil {
			return err
		}
		err := r.run(ctx, process{
			args: []string{
				"commit", "--no-verify", "--no-gpg-sign", "--no-status", "--no-post-rewrite",
				"--cleanup=verbatim", "--file=-",
			},
			in: []byte(message),
		})
		if refused, ok := errors.AsType[*CommandError](err); ok {
			return r.uncommitted(ctx, refused)
		}
		if err != nil {
			return err
		}
		id, err = r.commit(ctx, "revision", "HEAD")
		return err
	})
	return id, err
}

// uncommitted tells why there is no commit.
func (r *Repo) uncommitted(ctx context.Context, refused *CommandError) error {
	switch {
	case strings.Contains(refused.Message, "empty ident") || strings.Contains(refused.Message, "tell me who you are") ||
		strings.Contains(refused.Message, "auto-detect email"):
		return errors.New("git does not know who commits: set user.name and user.email with git config, then try again")
	case strings.Contains(refused.Message, "did not say why"):
		if _, err := r.text(ctx, "diff", "--cached", "--quiet"); err == nil {
			return errors.New("nothing is staged, so there is nothing to commit: stage files with git_add first")
		}
	}
	return refused
}

// headStraight checks that moving the current branch writes where it should.
func (r *Repo) headStraight(ctx context.Context) error {
	name, err := r.Current(ctx)
	if err != nil || name == "" {
		return err
	}
	return r.straightRef("refs/heads/" + name)
}

// Add stages files by their paths, with wildcards as git knows them.
func (r *Repo) Add(ctx context.Context, files []string) error {
	specs, err := r.paths(files)
	if err != nil {
		return err
	}
	return r.change(ctx, func() error {
		modules, err := r.submodules(ctx, specs)
		if err != nil {
			return err
		}
		for _, m := range modules {
			for _, spec := range specs {
				if strings.TrimSuffix(spec, "/") == m {
					return fmt.Errorf("%q is a submodule, which is a repository of its own and is not looked into: stage it with git itself", clip(m))
				}
			}
		}
		if err := r.unfiltered(ctx, specs); err != nil {
			return err
		}
		list := specs
		for _, m := range modules {
			list = append(list, ":(top,exclude,literal)"+m)
		}
		return r.run(ctx, process{
			args: []string{"add", "--pathspec-from-file=-", "--pathspec-file-nul"},
			in:   []byte(strings.Join(list, "\x00")),
		})
	})
}

// maxListed bounds the names that are looked at before files are staged.
const maxListed = 64 << 20

// submodules lists the submodules among the files that are tracked. Git would run
// itself in them, with their own configuration.
func (r *Repo) submodules(ctx context.Context, specs []string) ([]string, error) {
	var out bytes.Buffer
	args := append([]string{"ls-files", "--stage", "-z", "--"}, specs...)
	if err := r.run(ctx, process{args: args, out: &bounded{to: &out, most: maxListed}}); err != nil {
		return nil, err
	}
	var list []string
	for entry := range strings.SplitSeq(out.String(), "\x00") {
		if about, name, ok := strings.Cut(entry, "\t"); ok && strings.HasPrefix(about, "160000 ") {
			list = append(list, name)
		}
	}
	return list, nil
}

// unfiltered refuses files that are stored through a filter: without it, which is
// turned off, something else would be stored than the user wants.
func (r *Repo) unfiltered(ctx context.Context, specs []string) error {
	if !r.filtered {
		return nil
	}
	var names, attributes bytes.Buffer
	args := append([]string{"ls-files", "--modified", "--others", "--exclude-standard", "-z", "--"}, specs...)
	if err := r.run(ctx, process{args: args, out: &bounded{to: &names, most: maxListed}}); err != nil {
		return err
	}
	err := r.run(ctx, process{
		args: []string{"check-attr", "-z", "--stdin", "filter"},
		in:   names.Bytes(), out: &bounded{to: &attributes, most: 2 * maxListed},
	})
	if err != nil {
		return err
	}
	values := strings.Split(attributes.String(), "\x00")
	for ; len(values) >= 3; values = values[3:] {
		if name := values[2]; name != "unspecified" && name != "unset" {
			return fmt.Errorf("%q is stored through the filter %q, and filters are programs, which are not run here: stage it with git itself",
				clip(values[0]), clip(name))
		}
	}
	return nil
}

// Reset unstages everything that is staged. Files stay as they are.
func (r *Repo) Reset(ctx context.Context) error {
	return r.change(ctx, func() error {
		return r.run(ctx, process{args: []string{"reset", "--quiet", "--mixed"}})
	})
}

// CreateBranch makes a branch that begins at another one, or at what is checked out
// if base is empty, and returns the name of what it begins at.
func (r *Repo) CreateBranch(ctx context.Context, name, base string) (from string, err error) {
	if err := r.checkBranch(ctx, name); err != nil {
		return "", err
	}
	if from = base; base == "" {
		if from, err = r.Current(ctx); err != nil {
			return "", err
		}
		if from == "" {
			from = "HEAD"
		}
		base = "HEAD"
	}
	err = r.change(ctx, func() error {
		id, err := r.commit(ctx, "base branch", base)
		if err != nil {
			return err
		}
		return r.run(ctx, process{args: []string{"branch", "--quiet", "--no-track", "--no-recurse-submodules", "--end-of-options", name, id}})
	})
	return from, err
}

// Checkout switches to a branch, or to the commit of any other name. It reports
// whether filters that the configuration names were left out.
func (r *Repo) Checkout(ctx context.Context, name string) (unfiltered bool, err error) {
	if err := checkName("branch name", name); err != nil {
		return false, err
	}
	err = r.change(ctx, func() error {
		target := name
		_, err := r.text(ctx, "show-ref", "--verify", "--quiet", "refs/heads/"+name)
		if _, ok := errors.AsType[*CommandError](err); ok {
			if target, err = r.switchable(ctx, name); err != nil {
				return err
			}
		} else if err != nil {
			return err
		}
		err = r.run(ctx, process{args: []string{"checkout", "--quiet", "--no-recurse-submodules", target, "--"}})
		if refused, ok := errors.AsType[*CommandError](err); ok && strings.Contains(refused.Message, "would be overwritten") {
			return fmt.Errorf("%w\nCommit these changes first, with git_add and git_commit", refused)
		}
		return err
	})
	return r.filtered, err
}

// switchable returns what to check out for a name that is no local branch: the name
// itself for the branch of a remote that git makes a local one of, else a commit.
func (r *Repo) switchable(ctx context.Context, name string) (string, error) {
	id, err := r.commit(ctx, "branch", name)
	if err == nil {
		return id, nil
	}
	remote, listErr := r.text(ctx, "for-each-ref", "--count=2", "--format=%(refname)", "refs/remotes/*/"+name)
	if listErr != nil || remote == "" || strings.ContainsAny(name, "*?[\\") || r.checkBranch(ctx, name) != nil {
		return "", err
	}
	return name, nil
}

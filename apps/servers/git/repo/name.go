package repo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// maxName bounds the names of revisions and branches.
const maxName = 512

// checkName refuses what git could take for an option, and what no name can hold.
func checkName(what, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("the %s is empty", what)
	case len(name) > maxName:
		return fmt.Errorf("the %s is over %d bytes", what, maxName)
	case strings.HasPrefix(name, "-"):
		return fmt.Errorf("the %s %q begins with -, which is how options begin: it is not used", what, clip(name))
	case strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("the %s %q holds control characters: it is not used", what, clip(name))
	}
	return nil
}

// commit returns the id of the commit that a name stands for.
func (r *Repo) commit(ctx context.Context, what, name string) (string, error) {
	if err := checkName(what, name); err != nil {
		return "", err
	}
	id, err := r.text(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if refused, ok := errors.AsType[*CommandError](err); ok {
		if name == "HEAD" {
			return "", errors.New("the repository has no commits yet: make one with git_commit")
		}
		return "", fmt.Errorf("the %s %q is no commit, branch or tag here (%s): git_branch lists branches, git_log commits", what, clip(name), refused.Message)
	}
	if err == nil && !isID(id) {
		err = fmt.Errorf("the %s %q stands for several commits: name one", what, clip(name))
	}
	return id, err
}

// isID reports whether a text is the full id of an object.
func isID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// checkBranch refuses what cannot be the name of a branch.
func (r *Repo) checkBranch(ctx context.Context, name string) error {
	if err := checkName("branch name", name); err != nil {
		return err
	}
	if name == "HEAD" {
		return errors.New("HEAD is what is checked out and cannot be the name of a branch")
	}
	if _, err := r.text(ctx, "check-ref-format", "refs/heads/"+name); err != nil {
		if _, ok := errors.AsType[*CommandError](err); ok {
			return fmt.Errorf("%q cannot be the name of a branch: use letters, digits, - and /", clip(name))
		}
		return err
	}
	return r.straightRef("refs/heads/" + name)
}

// straightRef refuses a reference whose folders are links: writing it would write
// somewhere else.
func (r *Repo) straightRef(ref string) error {
	for _, base := range []string{r.common, filepath.Join(r.common, "logs")} {
		path := base
		for part := range strings.SplitSeq(ref, "/") {
			path = filepath.Join(path, part)
			if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
				return fmt.Errorf("%s is a link: it is not written to", path)
			}
		}
	}
	return nil
}

// paths checks paths in the working tree and makes them relative to its root. They
// may hold the wildcards of git.
func (r *Repo) paths(names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, errors.New(`there are no files: name some, or "." for everything that has changed`)
	}
	list := make([]string, len(names))
	for i, name := range names {
		rel, err := r.relative(name)
		if err != nil {
			return nil, err
		}
		list[i] = rel
	}
	return list, nil
}

func (r *Repo) relative(name string) (string, error) {
	switch {
	case name == "":
		return "", errors.New("a path is empty")
	case strings.ContainsRune(name, 0):
		return "", errors.New("a path holds a zero byte: no file has such a name")
	case strings.HasPrefix(name, ":"):
		return "", fmt.Errorf("the path %q begins with a colon, which has a meaning of its own for git: write ./ before it", clip(name))
	}
	local := filepath.FromSlash(name)
	if filepath.IsAbs(local) {
		dir, err := filepath.EvalSymlinks(filepath.Dir(local))
		if err != nil {
			return "", fmt.Errorf("the path %q is outside of the repository, or its folder is not there", clip(name))
		}
		if local, err = filepath.Rel(r.root, filepath.Join(dir, filepath.Base(local))); err != nil {
			return "", fmt.Errorf("the path %q is outside of the repository", clip(name))
		}
	}
	local = filepath.Clean(local)
	if !filepath.IsLocal(local) {
		return "", fmt.Errorf("the path %q is outside of the repository", clip(name))
	}
	rel := filepath.ToSlash(local)
	for part := range strings.SplitSeq(rel, "/") {
		if strings.EqualFold(part, ".git") {
			return "", fmt.Errorf("the path %q is in the folder of git itself", clip(name))
		}
	}
	if strings.HasPrefix(rel, ":") {
		rel = "./" + rel
	}
	return rel, nil
}

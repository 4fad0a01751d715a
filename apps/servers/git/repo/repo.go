package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Repo is a working tree of a repository, looked at once: it is for one call. Its
// methods may be called concurrently.
type Repo struct {
	git *Git
	// root is the folder of the working tree, without links.
	root string
	// dir is where the state of this working tree is, and common what all working
	// trees of the repository share; they are one folder in most repositories.
	dir, common string
	allowed     []string
	env         []string
	filtered    bool // filters are set, and turned off
}

// Open finds the repository that a folder is in. The folder, the repository and
// everything the repository leads to must lie in one of the allowed folders; with none,
// the repository may be anywhere, but still must not lead out of itself.
func (g *Git) Open(ctx context.Context, folder string, allowed []string) (*Repo, error) {
	if err := g.check(ctx); err != nil {
		return nil, err
	}
	start, err := existing(folder)
	if err != nil {
		return nil, err
	}
	r := &Repo{git: g}
	for _, dir := range allowed {
		if dir, err := filepath.EvalSymlinks(dir); err == nil {
			r.allowed = append(r.allowed, dir)
		}
	}
	if len(allowed) > 0 && !r.allows(start) {
		return nil, fmt.Errorf("%q is outside of the allowed folders: %s", clip(folder), strings.Join(allowed, ", "))
	}
	if r.root = r.find(start); r.root == "" {
		return nil, fmt.Errorf("%q is in no git repository: give the folder that holds .git", clip(folder))
	}
	if err := r.locate(); err != nil {
		return nil, err
	}
	if err := r.enclosed(); err != nil {
		return nil, err
	}
	if err := r.owned(ctx); err != nil {
		return nil, err
	}
	return r, r.configure(ctx)
}

// Root is the folder of the working tree, without links.
func (r *Repo) Root() string { return r.root }

// existing returns the folder of a path, absolute and without links.
func existing(folder string) (string, error) {
	switch {
	case folder == "":
		return "", errors.New("the path of the repository is empty: give the folder that holds .git")
	case strings.ContainsRune(folder, 0):
		return "", errors.New("the path of the repository holds a zero byte: no folder has such a name")
	}
	full, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(full)
	if err != nil {
		return "", fmt.Errorf("%q: there is no such folder", clip(folder))
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%q is no folder: give the one that holds .git", clip(folder))
	}
	return real, nil
}

// Inside reports whether a path is a folder or lies in it. Both have no links.
func Inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// allows reports whether a path, without links, may be used.
func (r *Repo) allows(path string) bool {
	return len(r.allowed) == 0 || slices.ContainsFunc(r.allowed, func(dir string) bool { return Inside(dir, path) })
}

// find returns the nearest folder that holds .git, from a folder upwards as far as
// is allowed.
func (r *Repo) find(dir string) string {
	for r.allows(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return ""
}

// IsRoot reports whether a folder is the root of a working tree.
func IsRoot(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, ".git"))
	return err == nil
}

// locate finds the folders of git, as git would.
func (r *Repo) locate() error {
	entry := filepath.Join(r.root, ".git")
	info, err := os.Stat(entry)
	if err != nil {
		return fmt.Errorf("open repository %s: %w", r.root, err)
	}
	dir := entry
	if !info.IsDir() {
		line, err := pointer(entry)
		if err != nil {
			return err
		}
		target, ok := strings.CutPrefix(line, "gitdir:")
		if !ok {
			return fmt.Errorf("open repository %s: its .git is neither a folder nor points to one", r.root)
		}
		dir = join(r.root, strings.TrimSpace(target))
	}
	if r.dir, err = filepath.EvalSymlinks(dir); err != nil {
		return fmt.Errorf("open repository %s: its .git leads nowhere", r.root)
	}
	r.common = r.dir
	switch line, err := pointer(filepath.Join(r.dir, "commondir")); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		if r.common, err = filepath.EvalSymlinks(join(r.dir, line)); err != nil {
			return fmt.Errorf("open repository %s: the repository that this working tree belongs to is not there", r.root)
		}
	}
	return nil
}

// pointer reads a small file that holds a path.
func pointer(name string) (string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > 8<<10 {
		return "", fmt.Errorf("open repository: %s is not a small file", name)
	}
	b, err := os.ReadFile(name)
	return strings.TrimRight(string(b), "\r\n"), err
}

// join makes a path absolute that is relative to a folder.
func join(dir, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// within reports whether a path, without links, is the repository's own or allowed.
func (r *Repo) within(path string) bool {
	own := Inside(r.root, path) || Inside(r.dir, path) || Inside(r.common, path)
	return own || len(r.allowed) > 0 && r.allows(path)
}

// leading are what git writes to or follows in its folders: none of it may lead out.
var leading = []string{
	"HEAD", "index", "config", "config.worktree", "packed-refs", "shallow", "COMMIT_EDITMSG",
	"refs", "refs/heads", "refs/tags", "refs/remotes", "reftable",
	"logs", "logs/HEAD", "logs/refs", "logs/refs/heads",
	"objects", "objects/pack", "objects/info", "info", "info/exclude", "info/attributes",
}

// enclosed refuses a repository that leads out of where it may be: whose folders are
// elsewhere, whose files are links to others, or which borrows objects.
func (r *Repo) enclosed() error {
	if !r.allows(r.dir) || !r.allows(r.common) {
		return fmt.Errorf("the repository of %s is kept in %s, outside of the allowed folders: allow that folder too", r.root, r.common)
	}
	for _, dir := range []string{r.dir, r.common} {
		for _, name := range leading {
			if err := r.straight(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
				return err
			}
		}
	}
	if len(r.allowed) == 0 {
		return nil
	}
	objects := filepath.Join(r.common, "objects")
	list, err := os.ReadFile(filepath.Join(objects, "info", "alternates"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("open repository %s: %w", r.root, err)
	}
	for line := range strings.Lines(string(list)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		real, err := filepath.EvalSymlinks(join(objects, line))
		if err == nil && !r.within(real) {
			return fmt.Errorf("the repository of %s borrows objects from %s, outside of the allowed folders: allow that folder too", r.root, real)
		}
	}
	return nil
}

// straight refuses a link that leads out of the repository.
func (r *Repo) straight(path string) error {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return nil //nolint:nilerr // what is not there leads nowhere
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil || !r.within(real) {
		return fmt.Errorf("%s is a link that leads out of the repository: it is not used", path)
	}
	return nil
}

// owned asks git about a repository of somebody else: the user may have declared it
// to be safe.
func (r *Repo) owned(ctx context.Context) error {
	for _, path := range []string{r.root, filepath.Join(r.root, ".git"), r.dir} {
		if mine(path) {
			continue
		}
		return r.git.run(ctx, &process{
			dir:  r.root,
			env:  append(settings(overrides), "GIT_CEILING_DIRECTORIES="+filepath.Dir(r.root)),
			args: []string{"rev-parse", "--git-dir"},
		})
	}
	return nil
}

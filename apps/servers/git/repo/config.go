package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxDrivers is how many programs a configuration may name.
const maxDrivers = 500

// configure makes the environment of all processes of the repository: where it is,
// and every setting turned off that names a program.
func (r *Repo) configure(ctx context.Context) error {
	where := []string{"GIT_DIR=" + r.dir, "GIT_WORK_TREE=" + r.root, "GIT_OPTIONAL_LOCKS=0"}
	if r.common != r.dir {
		where = append(where, "GIT_COMMON_DIR="+r.common)
	}
	var out bytes.Buffer
	err := r.git.run(ctx, &process{
		dir: r.root, env: append(settings(overrides), where...),
		args: []string{"config", "--list", "--name-only", "-z", "--includes"},
		out:  &bounded{to: &out, most: 4 << 20},
	})
	if err != nil {
		return fmt.Errorf("read the configuration of the repository: %w", err)
	}
	off, err := turnedOff(out.String())
	if err != nil {
		return err
	}
	r.filtered = len(off) > 0
	r.env = append(settings(append(slices.Clone(overrides), off...)), where...)
	return nil
}

// turnedOff returns the settings that turn off the programs which others name. The
// names end in zero bytes; the first and the last part of each is in small letters.
func turnedOff(names string) ([]setting, error) {
	var list []setting
	seen := map[string]bool{}
	for key := range strings.SplitSeq(names, "\x00") {
		kind, rest, ok := strings.Cut(key, ".")
		last := strings.LastIndexByte(rest, '.')
		if !ok || last < 0 || drivers[kind] == nil || seen[kind+"."+rest[:last]] {
			continue
		}
		name := kind + "." + rest[:last]
		if seen[name] = true; len(seen) > maxDrivers {
			return nil, errors.New("the configuration of the repository names too many programs: it is not used")
		}
		for _, s := range drivers[kind] {
			list = append(list, setting{name + "." + s.key, s.value})
		}
	}
	return list, nil
}

// bounded refuses to be written more than a number of bytes to.
type bounded struct {
	to   *bytes.Buffer
	most int
}

var errTooMuch = errors.New("it is too long")

func (b *bounded) Write(p []byte) (int, error) {
	if b.to.Len()+len(p) > b.most {
		return 0, errTooMuch
	}
	return b.to.Write(p)
}

// run runs a command of git in the repository.
func (r *Repo) run(ctx context.Context, p process) error {
	p.dir, p.env = r.root, append(slices.Clone(r.env), p.env...)
	return r.git.run(ctx, &p)
}

// text runs a command whose output is short, and returns it without the last line
// break.
func (r *Repo) text(ctx context.Context, args ...string) (string, error) {
	var out bytes.Buffer
	err := r.run(ctx, process{args: args, out: &bounded{to: &out, most: 1 << 20}})
	return strings.TrimSuffix(strings.ToValidUTF8(out.String(), "\uFFFD"), "\n"), err
}

// change runs commands that change something, with nobody else changing anything.
func (r *Repo) change(ctx context.Context, do func() error) error {
	if err := enter(ctx, r.git.writing); err != nil {
		return err
	}
	defer func() { <-r.git.writing }()
	return do()
}

// Package repo works on git repositories whose contents and configuration may be
// hostile, with the git program.
//
// A repository can name programs: hooks, filters, diff drivers, pagers, signers,
// transports. None of them runs: each is overridden for every process, with an
// environment that is made from nothing. Names that a caller gives are checked,
// and resolved to the ids of objects, before git sees them. Where a repository
// really is, and where what lies in it leads, is checked before git looks at it.
//
// The network is never used. Errors are written for a model to read: they say what
// to do next.
package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Limits bound what one call can cost. Zero fields mean the defaults.
type Limits struct {
	// Time is how long one run of git may take; 30 s.
	Time time.Duration
	// Text is the most bytes of text that one call returns; 256 KiB.
	Text int
	// File is the largest file that is read at a revision; 10 MiB.
	File int64
	// Processes is how many run at the same time; 8.
	Processes int
}

func (l Limits) withDefaults() Limits {
	if l.Time <= 0 {
		l.Time = 30 * time.Second
	}
	if l.Text <= 0 {
		l.Text = 256 << 10
	}
	if l.File <= 0 {
		l.File = 10 << 20
	}
	if l.Processes <= 0 {
		l.Processes = 8
	}
	return l
}

// Git is the git program. Its methods may be called concurrently.
type Git struct {
	path    string
	limits  Limits
	running chan struct{} // holds one for each process
	writing chan struct{} // holds one while something is changed

	mu      sync.Mutex
	checked bool // that the version is new enough
}

// oldest is the first version in which everything that keeps a repository from
// running programs works.
var oldest = [2]int{2, 32}

// Find returns the git program at a path, or of that name; "" is git.
func Find(program string, limits Limits) (*Git, error) {
	if program == "" {
		program = "git"
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return nil, fmt.Errorf("the git program is needed and not there: %w", err)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	limits = limits.withDefaults()
	return &Git{
		path: path, limits: limits,
		running: make(chan struct{}, limits.Processes),
		writing: make(chan struct{}, 1),
	}, nil
}

// check refuses versions that do not know what keeps them safe.
func (g *Git) check(ctx context.Context) error {
	g.mu.Lock()
	done := g.checked
	g.mu.Unlock()
	if done {
		return nil
	}
	var out bytes.Buffer
	err := g.run(ctx, &process{dir: filepath.Dir(g.path), args: []string{"version"}, out: &out})
	if err != nil {
		return fmt.Errorf("ask git for its version: %w", err)
	}
	if !newEnough(out.String()) {
		return fmt.Errorf("git %d.%d or newer is needed, this one says %q", oldest[0], oldest[1], clip(out.String()))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.checked = true
	return nil
}

// newEnough reads what git version prints.
func newEnough(text string) bool {
	fields := strings.Fields(text)
	if len(fields) < 3 {
		return false
	}
	parts := strings.SplitN(fields[2], ".", 3)
	if len(parts) < 2 {
		return false
	}
	major, err := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(parts[1])
	if errors.Join(err, err2) != nil {
		return false
	}
	return major > oldest[0] || major == oldest[0] && minor >= oldest[1]
}

// enter waits for a place among those that a channel has.
func enter(ctx context.Context, places chan struct{}) error {
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// clip shortens what is quoted in a message.
func clip(s string) string {
	const most = 200
	s = strings.TrimSpace(s)
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A repository is where both commits are.
type repository struct{ dir string }

// git runs git in a folder and returns what it says.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, &problem)
	}
	return strings.TrimSpace(string(out)), nil
}

// accepted are the paths that commits since the base say cost more.
func (r *repository) accepted(ctx context.Context, base string) ([]string, error) {
	log, err := git(ctx, r.dir, "log", "--format=%B", base+"..HEAD")
	if err != nil {
		return nil, err
	}
	var paths []string
	for line := range strings.Lines(log) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "Costs-More:"); ok {
			paths = append(paths, strings.TrimSpace(path))
		}
	}
	return paths, nil
}

// build compiles the program of a module.
func build(ctx context.Context, module, program, out string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", out, "./"+program)
	cmd.Dir = module
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", filepath.Join(module, program), err, text)
	}
	return nil
}

// overlay puts the program of one tree in the place of the other's.
func overlay(from, to, program string) error {
	place := filepath.Join(to, program)
	if err := os.RemoveAll(place); err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.CopyFS(place, os.DirFS(filepath.Join(from, program)))
}

// measure runs the program.
func measure(ctx context.Context, program string) ([]count, error) {
	out, err := exec.CommandContext(ctx, program).Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return nil, err
	}
	var counts []count
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var c count
		if err := d.Decode(&c); err != nil {
			return nil, fmt.Errorf("read what %s says: %w", program, err)
		}
		if c.Instructions, err = instructions(ctx, program, c.Path); err != nil {
			return nil, err
		}
		counts = append(counts, c)
	}
	if len(counts) == 0 {
		return nil, fmt.Errorf("%s counted nothing", program)
	}
	return counts, nil
}

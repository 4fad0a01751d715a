package examples_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCallGreeter builds two of the examples and lets one use the other.
func TestCallGreeter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"greeter", "call"} {
		build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, name), "./"+name)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", name, err, out)
		}
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(dir, "call"), filepath.Join(dir, "greeter")).CombinedOutput()
	if err != nil {
		t.Fatalf("call: %v\n%s", err, out)
	}
	if got, want := strings.TrimSpace(string(out)), "greet: Greets somebody\nHello, Ada!"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

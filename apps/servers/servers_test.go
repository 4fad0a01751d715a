package servers_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/apps/servers"
)

// TestOffered opens every server as it is offered for an empty folder.
func TestOffered(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, b := range servers.All {
		for _, name := range []string{b.Name, b.Also} {
			if seen[name] && name != "" {
				t.Errorf("the name %q is taken twice", name)
			}
			seen[name] = true
			if found, ok := servers.Find(name); ok != (name != "") || ok && found.Name != b.Name {
				t.Errorf("Find(%q) = %v, %t", name, found, ok)
			}
		}
		if b.Short == "" || strings.HasSuffix(b.Short, ".") {
			t.Errorf("%s is for %q", b.Name, b.Short)
		}
		if b.Offer == nil {
			continue
		}
		dir := t.TempDir()
		args, ok := b.Offer(dir)
		if !ok {
			continue
		}
		srv, err := b.Open(t.Context(), &servers.Setup{Dir: dir, Env: func(name string) string { return filepath.Join(dir, name) }}, args)
		if err != nil {
			t.Errorf("open %s %q: %v", b.Name, args, err)
			continue
		}
		if err := srv.Close(); err != nil {
			t.Errorf("close %s: %v", b.Name, err)
		}
		if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
			t.Errorf("%s leaves %v in the folder, %v", b.Name, left, err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"files", []string{"nowhere"}, "nowhere"},
		{"files", []string{"--what"}, "it takes [DIR...], --read-only"},
		{"time", []string{"UTC", "UTC"}, `unexpected argument "UTC"`},
		{"clock", []string{"--local-timezone=Mars/Olympus"}, "Mars/Olympus"},
	} {
		b, ok := servers.Find(tt.name)
		if !ok {
			t.Fatalf("there is no server %q", tt.name)
		}
		if _, err := b.Open(t.Context(), &servers.Setup{Dir: t.TempDir()}, tt.args); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("open %s %q: got error %v, want one with %q", tt.name, tt.args, err, tt.want)
		}
	}
}

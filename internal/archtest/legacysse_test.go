package archtest_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ferrymcp/ferry/internal/archtest"
)

// TestLegacySSECanBeDeleted lets the compiler see the repository without the
// oldest transport: what users build with does not need it.
func TestLegacySSECanBeDeleted(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	tree, err := archtest.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	gone := map[string]string{filepath.Join(root, "httpclient", "legacysse.go"): ""}
	for _, f := range tree.Package("httpserver/legacysse").Files {
		gone[filepath.Join(root, f.Path)] = ""
	}
	overlay, err := json.Marshal(map[string]any{"Replace": gone}) // a file by an empty name is none
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", file,
		"./transport", "./server", "./client", "./httpserver", "./httpclient", "./host")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("without HTTP+SSE: %v\n%s", err, out)
	}
}

//go:build unix

package folder_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ferrymcp/ferry/apps/servers/files/folder"
)

// TestSpecialFiles uses files whose opening would block or fail oddly. That the
// test ends at all is a part of it.
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	dir := fixture(t, map[string]string{"plain.txt": "x"})
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o666); err != nil {
		t.Skip(err)
	}
	// The path of a socket must be short, and this one is long.
	if l, err := net.Listen("unix", filepath.Join(dir, "socket")); err == nil {
		defer l.Close()
	}
	f := open(t, dir, folder.Limits{})
	for _, name := range []string{"pipe", "socket"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			continue
		}
		if _, err := f.ReadText(t.Context(), name, folder.Lines{}); err == nil || !strings.Contains(err.Error(), "is a "+name+", not a plain file") {
			t.Errorf("ReadText(%s): got error %v", name, err)
		}
		for op, err := range use(t, f, name) {
			if err == nil && op != "Move from" {
				t.Errorf("%s(%s) was not refused", op, name)
			}
		}
		info, err := f.Info(name)
		if err != nil || info.Kind != name || info.MIMEType != "" {
			t.Errorf("Info(%s) = %+v, %v", name, info, err)
		}
	}
	m, err := f.Search(t.Context(), folder.Query{Path: ".", Expression: "x"})
	if err != nil || len(m.List) != 1 {
		t.Errorf("Search = %+v, %v", m, err)
	}
}

// TestDevices reads a folder with devices, which must not be opened.
func TestDevices(t *testing.T) {
	t.Parallel()
	f, err := folder.Open("/dev", folder.Limits{})
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	for _, name := range []string{"zero", "null", "tty"} {
		if _, err := f.ReadText(t.Context(), name, folder.Lines{}); err == nil || !strings.Contains(err.Error(), "is a device") {
			t.Errorf("ReadText(/dev/%s): got error %v", name, err)
		}
		if _, err := f.ReadBytes(name); err == nil {
			t.Errorf("ReadBytes(/dev/%s): got no error", name)
		}
	}
}

//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminalWidth reports whether a file is a terminal, and its width; 80 if the
// terminal does not know.
func terminalWidth(f *os.File) (width int, terminal bool) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0, false
	}
	// File.Fd would make the file a blocking one.
	_ = raw.Control(func(fd uintptr) {
		ws, err := unix.IoctlGetWinsize(int(fd), unix.TIOCGWINSZ)
		switch {
		case err != nil:
		case ws.Col == 0:
			width, terminal = 80, true
		default:
			width, terminal = int(ws.Col), true
		}
	})
	return width, terminal
}

package cli

import (
	"os"

	"golang.org/x/sys/windows"
)

// terminalWidth reports whether a file is a terminal, and its width. It asks
// the terminal to understand the escapes that console writes.
func terminalWidth(f *os.File) (width int, terminal bool) {
	handle := windows.Handle(f.Fd())
	var mode uint32
	if windows.GetConsoleMode(handle, &mode) != nil {
		return 0, false
	}
	if windows.SetConsoleMode(handle, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) != nil {
		return 0, false // an old one: treat it as a file
	}
	var info windows.ConsoleScreenBufferInfo
	if windows.GetConsoleScreenBufferInfo(handle, &info) != nil {
		return 80, true
	}
	return int(info.Window.Right-info.Window.Left) + 1, true
}

//go:build !unix && !windows

package cli

import "os"

// terminalWidth takes nothing for a terminal.
func terminalWidth(*os.File) (width int, terminal bool) { return 0, false }

//go:build unix

package store

import (
	"os"
	"syscall"
)

// nonblocking lets a pipe be opened without waiting for a writer.
const nonblocking = syscall.O_NONBLOCK

// holdLocked keeps the file open that doc was read from.
func (f *File) holdLocked(file *os.File) error {
	f.seen = file
	return nil
}

// closeBeforeRename does nothing: open files can be renamed.
func closeBeforeRename(*os.File) error { return nil }

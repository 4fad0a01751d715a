package store

import "os"

const nonblocking = 0

// holdLocked closes the file: an open one could not be replaced. That it is still
// the same is not sure then, so it is read again.
func (f *File) holdLocked(file *os.File) error {
	_ = file.Close() // it may be closed already
	return nil
}

// closeBeforeRename closes the file: an open one cannot be renamed.
func closeBeforeRename(file *os.File) error { return file.Close() }

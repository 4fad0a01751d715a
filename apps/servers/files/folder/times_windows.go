package folder

import (
	"io/fs"
	"syscall"
	"time"
)

// times are when a file was made and when it was last read.
func (f *Folder) times(_ string, info fs.FileInfo) (created, accessed time.Time) {
	if data, ok := info.Sys().(*syscall.Win32FileAttributeData); ok {
		return time.Unix(0, data.CreationTime.Nanoseconds()), time.Unix(0, data.LastAccessTime.Nanoseconds())
	}
	return info.ModTime(), info.ModTime()
}

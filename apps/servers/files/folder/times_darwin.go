package folder

import (
	"io/fs"
	"syscall"
	"time"
)

// times are when a file was made and when it was last read.
func (f *Folder) times(_ string, info fs.FileInfo) (created, accessed time.Time) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(stat.Birthtimespec.Unix()), time.Unix(stat.Atimespec.Unix())
	}
	return info.ModTime(), info.ModTime()
}

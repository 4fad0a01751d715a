package folder

import (
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// times are when a file was made and when it was last read.
func (f *Folder) times(rel string, info fs.FileInfo) (created, accessed time.Time) {
	created, accessed = info.ModTime(), info.ModTime()
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		accessed = time.Unix(stat.Atim.Unix())
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return created, accessed
	}
	file, err := f.root.OpenFile(rel, os.O_RDONLY|nonblocking, 0)
	if err != nil {
		return created, accessed
	}
	defer func() { _ = file.Close() }() // it was only looked at
	var stat unix.Statx_t
	if unix.Statx(int(file.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &stat) == nil && stat.Mask&unix.STATX_BTIME != 0 {
		created = time.Unix(stat.Btime.Sec, int64(stat.Btime.Nsec))
	}
	return created, accessed
}

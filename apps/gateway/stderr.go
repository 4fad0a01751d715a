package gateway

import (
	"bytes"
	"log/slog"
)

// A lineLog writes what a child process prints to standard error into a log,
// under the server's name. It gets whole lines, from one goroutine at a time.
type lineLog struct {
	log    *slog.Logger
	server string
}

// maxLine bounds what is logged of a line.
const maxLine = 4 << 10

// Write implements io.Writer.
func (l *lineLog) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			continue
		}
		l.log.Info(string(line[:min(len(line), maxLine)]),
			slog.String("server", l.server), slog.String("stream", "stderr"))
	}
	return len(p), nil
}

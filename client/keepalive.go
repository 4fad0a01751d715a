package client

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/ferrymcp/ferry/mcp"
)

// keepAlive asks the server of a link for a sign of life again and again, and
// ends the session when there is none.
//
// https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping
func (s *Session) keepAlive(l *link) {
	every := s.client.opts.KeepAlive
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-l.ctx.Done():
			return
		}
		if reason := s.signOfLife(l.ctx, every); reason != nil {
			s.log.Warn("the server gives no sign of life, the session is over", slog.Any("error", reason))
			_ = s.end(&UnreachableError{Err: reason})
			return
		}
	}
}

// signOfLife returns the *TimeoutError of a ping that was not answered. Any
// answer will do, and other failures are for those who make calls to see.
func (s *Session) signOfLife(ctx context.Context, limit time.Duration) error {
	_, _, err := s.call(ctx, mcp.MethodPing, nil, &CallOptions{Timeout: limit})
	if late, ok := errors.AsType[*TimeoutError](err); ok {
		return late
	}
	return nil
}

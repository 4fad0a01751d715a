package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	ijson "github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// A logGate bounds the log messages for one caller and counts what it holds back.
type logGate struct {
	mu   sync.Mutex
	held *heldLogs // nil until something is logged: most callers hear nothing
}

// heldLogs is what a logGate knows.
type heldLogs struct {
	rate    bucket
	dropped int
	level   mcp.LoggingLevel // of the last one dropped
}

// pass reports whether a message may be sent, and how many were not since the
// last one that was.
func (g *logGate) pass(rate int, level mcp.LoggingLevel) (dropped int, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held == nil {
		g.held = &heldLogs{}
	}
	if !g.held.rate.take(rate) {
		g.held.dropped++
		g.held.level = level
		return 0, false
	}
	dropped, g.held.dropped = g.held.dropped, 0
	return dropped, true
}

// takeDropped returns how many messages were held back, and the level of the last.
func (g *logGate) takeDropped() (dropped int, level mcp.LoggingLevel) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held == nil {
		return 0, ""
	}
	dropped, g.held.dropped = g.held.dropped, 0
	return dropped, g.held.level
}

// tellDropped tells how many messages were held back, if there were any.
func (g *logGate) tellDropped(ctx context.Context, c *Call) {
	if dropped, level := g.takeDropped(); dropped > 0 {
		_ = c.notifyDropped(ctx, level, dropped) // a caller that has gone misses nothing
	}
}

// Log sends a log message to the caller if it wants messages of that level and
// there were not too many: see Options.LogRate. data is encoded as JSON; logger
// names the part of the server and may be empty. What is logged leaves the
// server: it must not hold secrets, nor anything about other callers.
func (c *Call) Log(ctx context.Context, level mcp.LoggingLevel, logger string, data any) error {
	if !c.logs(level) {
		return nil
	}
	raw, err := ijson.Marshal(data)
	if err != nil {
		return err
	}
	return c.log(ctx, level, logger, raw)
}

// logs reports whether the caller wants messages of a level.
func (c *Call) logs(level mcp.LoggingLevel) bool {
	least, wanted := c.from.logLevel()
	return wanted && level.AtLeast(least)
}

func (c *Call) log(ctx context.Context, level mcp.LoggingLevel, logger string, data json.RawMessage) error {
	dropped, ok := c.from.logGate().pass(c.srv.opts.LogRate, level)
	if !ok {
		return nil
	}
	if dropped > 0 {
		if err := c.notifyDropped(ctx, level, dropped); err != nil {
			return err
		}
	}
	return c.Notify(ctx, mcp.NotificationMessage, &mcp.LoggingMessageParams{Level: level, Logger: logger, Data: data})
}

// notifyDropped tells how many messages were held back, in a message of a level
// that the caller wants.
func (c *Call) notifyDropped(ctx context.Context, level mcp.LoggingLevel, dropped int) error {
	text := fmt.Sprintf("%d log messages were left out: more than %d in a second", dropped, c.srv.opts.LogRate)
	return c.Notify(ctx, mcp.NotificationMessage, &mcp.LoggingMessageParams{Level: level, Data: mustMarshal(text)})
}

// Log sends a log message that belongs to no request to the client of the session,
// as [Call.Log] does within one. It does nothing when the session is nil or has no
// way to its client outside of requests, before initialize, and after the end.
func (sess *Session) Log(level mcp.LoggingLevel, logger string, data any) error {
	if sess == nil || sess.sub == nil || !sess.Ready() {
		return nil
	}
	if least, _ := sess.logLevel(); !level.AtLeast(least) {
		return nil
	}
	raw, err := ijson.Marshal(data)
	if err != nil {
		return err
	}
	if _, ok := sess.logs.pass(sess.srv.opts.LogRate, level); !ok {
		return nil
	}
	buf := jsonrpc.GetBuffer()
	defer jsonrpc.PutBuffer(buf)
	p := &mcp.LoggingMessageParams{Level: level, Logger: logger, Data: raw}
	if err := jsonrpc.WriteNotification(buf, mcp.NotificationMessage, p); err != nil {
		return err
	}
	return sess.sub.out(buf.Bytes())
}

// LogHandler returns a handler for package log/slog that sends records to the
// caller, as Log does, for as long as the call lasts. The data is an object with
// the message as "msg" and the attributes, groups as objects in it. Levels
// between those of slog are told apart: 2 is notice, 12 critical, 16 alert and
// 20 emergency.
func (c *Call) LogHandler(logger string) slog.Handler {
	h := &logHandler{call: c, logger: logger, shared: &logBuffer{}}
	h.format = slog.NewJSONHandler(&h.shared.buf, &slog.HandlerOptions{Level: slog.Level(-1 << 30), ReplaceAttr: withoutLevel})
	return h
}

// A logHandler has another handler format records and sends what that wrote.
type logHandler struct {
	call   *Call
	logger string
	format slog.Handler
	shared *logBuffer // of all handlers derived from one
}

type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// withoutLevel drops the level, which the message has elsewhere.
func withoutLevel(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.LevelKey {
		if _, ok := a.Value.Any().(slog.Level); ok {
			return slog.Attr{}
		}
	}
	return a
}

// Enabled implements slog.Handler.
func (h *logHandler) Enabled(_ context.Context, level slog.Level) bool {
	return h.call.logs(severity(level))
}

// Handle implements slog.Handler.
func (h *logHandler) Handle(ctx context.Context, r slog.Record) error {
	level := severity(r.Level)
	if !h.call.logs(level) {
		return nil
	}
	r.Time = time.Time{} // the client sees when it came
	data, err := h.encode(ctx, r)
	if err != nil {
		return err
	}
	return h.call.log(ctx, level, h.logger, data)
}

func (h *logHandler) encode(ctx context.Context, r slog.Record) (json.RawMessage, error) {
	h.shared.mu.Lock()
	defer h.shared.mu.Unlock()
	h.shared.buf.Reset()
	if err := h.format.Handle(ctx, r); err != nil {
		return nil, err
	}
	return ijson.Compact(h.shared.buf.Bytes())
}

// WithAttrs implements slog.Handler.
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	derived := *h
	derived.format = h.format.WithAttrs(attrs)
	return &derived
}

// WithGroup implements slog.Handler.
func (h *logHandler) WithGroup(name string) slog.Handler {
	derived := *h
	derived.format = h.format.WithGroup(name)
	return &derived
}

// severity returns the protocol's level for one of slog's.
func severity(level slog.Level) mcp.LoggingLevel {
	for _, step := range severities {
		if level >= step.from {
			return step.level
		}
	}
	return mcp.LevelDebug
}

var severities = []struct {
	from  slog.Level
	level mcp.LoggingLevel
}{
	{20, mcp.LevelEmergency},
	{16, mcp.LevelAlert},
	{12, mcp.LevelCritical},
	{slog.LevelError, mcp.LevelError},
	{slog.LevelWarn, mcp.LevelWarning},
	{2, mcp.LevelNotice},
	{slog.LevelInfo, mcp.LevelInfo},
}

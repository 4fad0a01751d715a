package server

import (
	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/mcp"
)

// A caller is whoever sent a request, with everything a handler may learn of
// it. There are two: a [Session] has been introduced by initialize and
// remembers; an exchange was introduced by the request itself and forgets.
// Asking the caller for input belongs here too, because only the caller knows
// whether it can be asked.
type caller interface {
	revision() *revision.Revision
	client() mcp.Implementation
	capabilities() mcp.ClientCapabilities
	// logLevel is the least level of log messages the caller wants; false
	// when it wants none.
	logLevel() (mcp.LoggingLevel, bool)
	// logGate lets through what of them is not too much.
	logGate() *logGate
}

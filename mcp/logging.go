package mcp

import (
	"encoding/json"
	"slices"
)

// LoggingLevel is how severe a log message is, as in syslog.
type LoggingLevel string

// The levels, the least severe first.
const (
	// LevelDebug is for detail that helps to find errors.
	LevelDebug LoggingLevel = "debug"
	// LevelInfo is for what happens in general.
	LevelInfo LoggingLevel = "info"
	// LevelNotice is for what is normal but noteworthy.
	LevelNotice LoggingLevel = "notice"
	// LevelWarning is for what may lead to errors.
	LevelWarning LoggingLevel = "warning"
	// LevelError is for what failed.
	LevelError LoggingLevel = "error"
	// LevelCritical is for parts that no longer work.
	LevelCritical LoggingLevel = "critical"
	// LevelAlert is for what somebody must act on at once.
	LevelAlert LoggingLevel = "alert"
	// LevelEmergency is for a system that cannot be used.
	LevelEmergency LoggingLevel = "emergency"
)

var levels = []LoggingLevel{
	LevelDebug, LevelInfo, LevelNotice, LevelWarning, LevelError, LevelCritical, LevelAlert, LevelEmergency,
}

// Valid reports whether the level is one of the eight.
func (l LoggingLevel) Valid() bool { return slices.Contains(levels, l) }

// AtLeast reports whether a message of level l is to be sent to someone who
// asked for min. It is false when either is not one of the eight.
func (l LoggingLevel) AtLeast(min LoggingLevel) bool {
	floor := slices.Index(levels, min)
	return floor >= 0 && slices.Index(levels, l) >= floor
}

// LoggingMessageParams are the parameters of notifications/message.
type LoggingMessageParams struct {
	// Meta is the metadata of the notification; nil means none.
	Meta Meta `json:"_meta,omitzero"`
	// Level is how severe it is.
	Level LoggingLevel `json:"level"`
	// Logger names the part of the server that speaks.
	Logger string `json:"logger,omitzero"`
	// Data is what to log, any JSON value; nil is written as null.
	Data json.RawMessage `json:"data"`
}

// SetLevelParams are the parameters of logging/setLevel, which only older
// revisions have.
type SetLevelParams struct {
	// Meta is the metadata of the request; nil means none.
	Meta Meta `json:"_meta,omitzero"`
	// Level is the least severe level to send.
	Level LoggingLevel `json:"level"`
}

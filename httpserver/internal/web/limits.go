package web

import "time"

// What limits are when nobody has set them.
const (
	MaxBody           = 4 << 20
	InitializeTimeout = time.Minute
	MaxSessions       = 10_000
	MaxConcurrent     = 256
	Keepalive         = 15 * time.Second
	WriteTimeout      = 30 * time.Second
)

// OrDefault gives an option that was not set its default.
func OrDefault[T int | int64 | time.Duration](value *T, otherwise T) {
	if *value <= 0 {
		*value = otherwise
	}
}

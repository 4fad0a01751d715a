package servers

import (
	"context"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ferrymcp/ferry/apps/servers/thinking"
)

// thinkingFlags are those of the server "thinking": none. DISABLE_THOUGHT_LOGGING
// keeps thoughts off standard error.
func thinkingFlags(*pflag.FlagSet) Open {
	return func(_ context.Context, s *Setup, args []string) (*Opened, error) {
		if err := atMost(0, args); err != nil {
			return nil, err
		}
		o := &thinking.Options{Log: s.Stderr, Alone: s.Launched, Server: s.Server}
		if strings.EqualFold(s.env("DISABLE_THOUGHT_LOGGING"), "true") {
			o.Log = nil
		}
		srv := thinking.New(o)
		return &Opened{Server: srv, Closer: srv}, nil
	}
}

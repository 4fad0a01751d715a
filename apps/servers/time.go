package servers

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/ferrymcp/ferry/apps/servers/clock"
)

// timeFlags are those of the server "time". Its argument is the local time zone.
func timeFlags(flags *pflag.FlagSet) Open {
	var o clock.Options
	flags.StringVar(&o.Local, "local-timezone", "", "the local time `zone`, as the argument")
	return func(_ context.Context, s *Setup, args []string) (*Opened, error) {
		if err := atMost(1, args); err != nil {
			return nil, err
		}
		if len(args) > 0 {
			o.Local = args[0]
		}
		o.Server = s.Server
		srv, err := clock.New(&o)
		if err != nil {
			return nil, err
		}
		return &Opened{Server: srv, Closer: srv}, nil
	}
}

package servers

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/ferrymcp/ferry/apps/servers/files"
)

// filesFlags are those of the server "files". Its argument is a folder.
func filesFlags(flags *pflag.FlagSet) Open {
	var o files.Options
	readOnly(flags, &o.ReadOnly)
	return func(_ context.Context, s *Setup, args []string) (*Opened, error) {
		if err := atMost(1, args); err != nil {
			return nil, err
		}
		dir, err := s.path(append(args, ".")[0])
		if err != nil {
			return nil, err
		}
		o.Server = s.Server
		srv, err := files.New(dir, &o)
		if err != nil {
			return nil, err
		}
		return &Opened{Server: srv.Server, Closer: srv}, nil
	}
}

func offerFiles(dir string) ([]string, bool) { return []string{dir}, true }

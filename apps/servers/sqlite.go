package servers

import (
	"context"
	"errors"

	"github.com/spf13/pflag"

	"github.com/ferrymcp/ferry/apps/servers/sqlite"
)

// sqliteFlags are those of the server "sqlite". Its argument is the file of a database.
func sqliteFlags(flags *pflag.FlagSet) Open {
	var o sqlite.Options
	path := flags.String("db-path", "", "`file` of the database, as the argument")
	readOnly(flags, &o.ReadOnly)
	return func(_ context.Context, s *Setup, args []string) (*Opened, error) {
		if err := atMost(1, args); err != nil {
			return nil, err
		}
		name := append(args, *path)[0]
		if name == "" {
			return nil, errors.New("which database? Give its file, with --db-path")
		}
		full, err := s.path(name)
		if err != nil {
			return nil, err
		}
		o.Server = s.Server
		srv, err := sqlite.New(full, &o)
		if err != nil {
			return nil, err
		}
		return &Opened{Server: srv.Server, Closer: srv, Where: full}, nil
	}
}

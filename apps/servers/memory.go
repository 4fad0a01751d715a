package servers

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/ferrymcp/ferry/apps/servers/memory"
)

// memoryFlags are those of the server "memory". MEMORY_FILE_PATH names the file
// unless a flag does.
func memoryFlags(flags *pflag.FlagSet) Open {
	var o memory.Options
	var imported string
	readOnly(flags, &o.ReadOnly)
	flags.StringVar(&o.File, "file", "", "`file` of JSON lines to keep the memory in (default $MEMORY_FILE_PATH, or memory.jsonl in the user's configuration)")
	flags.StringVar(&o.Database, "sqlite", "", "SQLite `database` to keep the memory in instead")
	flags.StringVar(&imported, "import", "", "first add the memory in this `file` of JSON lines")
	return func(ctx context.Context, s *Setup, args []string) (*Opened, error) {
		if err := atMost(0, args); err != nil {
			return nil, err
		}
		if o.File == "" && o.Database == "" {
			o.File = s.env("MEMORY_FILE_PATH")
		}
		for _, name := range []*string{&o.File, &o.Database, &imported} {
			if *name == "" {
				continue
			}
			var err error
			if *name, err = s.path(*name); err != nil {
				return nil, err
			}
		}
		o.Server = s.Server
		srv, err := memory.New(ctx, &o)
		if err != nil {
			return nil, err
		}
		if imported != "" {
			data, err := os.ReadFile(imported)
			if err == nil {
				err = srv.Import(ctx, data)
			}
			if err != nil {
				return nil, errors.Join(fmt.Errorf("--import: %w", err), srv.Close())
			}
		}
		return &Opened{Server: srv.Server, Closer: srv, Where: srv.Path()}, nil
	}
}

// offerMemory offers it where there is a folder for it.
func offerMemory(string) ([]string, bool) {
	if os.Getenv("MEMORY_FILE_PATH") != "" {
		return nil, true
	}
	_, err := memory.DefaultFile()
	return nil, err == nil
}

package servers

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/ferrymcp/ferry/apps/servers/files"
)

// filesFlags are those of the server "files". Its arguments are folders.
func filesFlags(flags *pflag.FlagSet) Open {
	var o files.Options
	var policy string
	readOnly(flags, &o.ReadOnly)
	flags.StringVar(&policy, "roots", "", "what the client's roots are for: replace the folders, narrow them, or ignore (default replace on standard input, narrow over HTTP, ignore in ferry up)")
	return func(_ context.Context, s *Setup, args []string) (*Opened, error) {
		o.Roots = files.RootsPolicy(policy)
		switch o.Roots {
		case files.RootsReplace, files.RootsNarrow, files.RootsIgnore:
		case "":
			o.Roots = s.roots()
		default:
			return nil, fmt.Errorf("--roots must be replace, narrow or ignore, not %q", policy)
		}
		if len(args) == 0 && !s.Launched {
			args = []string{"."}
		}
		for _, arg := range args {
			dir, err := s.path(arg)
			if err != nil {
				return nil, err
			}
			o.Folders = append(o.Folders, dir)
		}
		o.Server = s.Server
		srv, err := files.New(&o)
		if err != nil {
			return nil, err
		}
		return &Opened{Server: srv.Server, Closer: srv}, nil
	}
}

// roots is what the roots of clients are for when nobody has said it.
func (s *Setup) roots() files.RootsPolicy {
	switch {
	case s.Launched:
		return files.RootsReplace
	case s.Behind:
		return files.RootsIgnore
	}
	return files.RootsNarrow
}

func offerFiles(dir string) ([]string, bool) { return []string{dir}, true }

package servers

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/ferrymcp/ferry/apps/servers/git"
	"github.com/ferrymcp/ferry/apps/servers/git/repo"
)

// gitFlags are those of the server "git". Its arguments are folders of repositories.
func gitFlags(flags *pflag.FlagSet) Open {
	var o git.Options
	repositories := flags.StringArrayP("repository", "r", nil, "`folder` of a repository, as an argument; may be given again")
	verbose := flags.CountP("verbose", "v", "does nothing")
	_ = verbose
	_ = flags.MarkHidden("verbose")
	readOnly(flags, &o.ReadOnly)
	return func(_ context.Context, s *Setup, args []string) (*Opened, error) {
		for _, dir := range append(*repositories, args...) {
			full, err := s.path(dir)
			if err != nil {
				return nil, err
			}
			o.Repositories = append(o.Repositories, full)
		}
		o.Server = s.Server
		srv, err := git.New(&o)
		if err != nil {
			return nil, err
		}
		return &Opened{Server: srv, Closer: srv}, nil
	}
}

// offerGit offers a folder that is a repository, where there is a git program.
func offerGit(dir string) ([]string, bool) {
	if !repo.IsRoot(dir) {
		return nil, false
	}
	_, err := repo.Find("", repo.Limits{})
	return []string{"--repository", dir}, err == nil
}

package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"
)

// logoutTime is how long the server may take to hear of a logout.
const logoutTime = 15 * time.Second

func (p *program) logoutCmd() *cobra.Command {
	c := &cobra.Command{
		Use:               "logout NAME|URL",
		Short:             "Forget the login at a server",
		Long:              "Forget the login at a server, which is told, so that the tokens are of no use to anybody.",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: p.completeAccount,
	}
	p.configFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error { return p.logout(c.Context(), args[0]) }
	return c
}

func (p *program) logout(ctx context.Context, name string) error {
	a, err := p.account(name)
	if err != nil {
		return err
	}
	t, err := p.tokens()
	if err != nil {
		return err
	}
	if t.store == nil {
		p.out.linef(plain, "There was no login at %s.", a.called())
		return nil
	}
	before, unreadable := t.client.Status(ctx, a.Endpoint)
	limited, cancel := context.WithTimeout(ctx, logoutTime)
	defer cancel()
	if err := t.client.Logout(limited, a.Endpoint); err != nil {
		return err
	}
	if before == nil && unreadable == nil {
		p.out.linef(plain, "There was no login at %s.", a.called())
		return nil
	}
	if err := t.store.Forget(ctx, a.Endpoint); err != nil {
		return err
	}
	p.out.linef(plain, "Logged out at %s.", a.called())
	return nil
}

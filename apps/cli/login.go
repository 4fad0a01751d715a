package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrymcp/ferry/auth/oauth"
	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/mcp"
)

// How long a user may take by default, and how long a server may to say whether it
// needs a login.
const (
	loginTime = 5 * time.Minute
	askTime   = 10 * time.Second
)

// secretVariable has the secret of a client that is registered.
const secretVariable = "FERRY_CLIENT_SECRET"

// accessDenied is the code of the error when the user or the server has said no.
const accessDenied = "access_denied"

// maxSecret bounds what is read as a secret.
const maxSecret = 4096

// loginFlags are the flags of ferry login.
type loginFlags struct {
	noBrowser   bool
	scopes      []string
	clientID    string
	secretStdin bool
	timeout     time.Duration
}

func (p *program) loginCmd() *cobra.Command {
	f := new(loginFlags)
	c := &cobra.Command{
		Use:   "login [NAME|URL]",
		Short: "Log in at a server",
		Long: `Log in at a server over HTTP, with a browser. All other commands, and ferry up, use
the login from then on, and keep it fresh.

Without an argument, the servers of the configuration that need a login are listed.

What is kept is encrypted with a key in the keyring of the system. Without a
keyring, or with FERRY_KEYRING=off in the environment, it is in files that only
you can read.

A client that the server has given you is named with --client-id. Its secret comes
from the environment, as FERRY_CLIENT_SECRET, or from standard input.`,
		Example: `  ferry login https://mcp.example.com/mcp
  ferry login issues --scope issues:write
  ferry login issues --no-browser`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: p.completeAccount,
	}
	flags := c.Flags()
	p.configFlag(c)
	flags.BoolVar(&f.noBrowser, "no-browser", false, "print the page to visit, and read the address where it ends")
	flags.StringArrayVar(&f.scopes, "scope", nil, "ask for this `scope` too; may be repeated")
	flags.StringVar(&f.clientID, "client-id", "", "the `id` of a client that is registered at the server")
	flags.BoolVar(&f.secretStdin, "client-secret-stdin", false, "read the secret of that client from standard input")
	flags.DurationVar(&f.timeout, "timeout", loginTime, "give up after this `time`")
	flags.BoolVarP(&p.flags.verbose, "verbose", "v", false, "show what happens")
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return p.listLogins(c.Context())
		}
		return p.login(c.Context(), args[0], f)
	}
	return c
}

// configFlag adds the flag that names the configuration.
func (p *program) configFlag(c *cobra.Command) {
	c.Flags().StringVar(&p.flags.config, "config", "", "`file` that names servers")
	_ = c.MarkFlagFilename("config", "json")
}

// login logs in at one server.
func (p *program) login(ctx context.Context, name string, f *loginFlags) error {
	a, err := p.account(name)
	if err != nil {
		return err
	}
	if a.Header {
		return usagef("the configuration has an Authorization header for %s, which is used instead of a login: take it out first", a.Name)
	}
	opts, err := p.loginOptions(f)
	if err != nil {
		return err
	}
	p.warn = true
	store, err := p.credentials()
	if err != nil {
		return &usageError{err: err}
	}
	opts.Store = store
	oc, err := oauth.New(opts)
	if err != nil {
		return &usageError{err: err}
	}
	defer func() { _ = oc.Close() }()
	limited, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	if err := oc.Login(limited, a.Endpoint); err != nil {
		return p.loginFailed(ctx, a, err, f)
	}
	if err := store.Remember(ctx, a.Endpoint); err != nil {
		return err
	}
	s, err := oc.Status(ctx, a.Endpoint)
	if err != nil || s == nil {
		return err
	}
	p.out.linef(green, "Logged in at %s.", a.called())
	for _, line := range statusLines(s) {
		p.out.line(plain, line)
	}
	return nil
}

// loginFailed says what was wrong.
func (p *program) loginFailed(ctx context.Context, a *account, err error, f *loginFlags) error {
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("nobody has logged in within %v", f.timeout)
		return &loginError{name: a.called(), command: p.loginCommand(a.called(), nil), err: err, text: err.Error()}
	}
	if e, ok := errors.AsType[*oauth.Error](err); ok && e.Code == accessDenied {
		return &loginError{name: a.called(), err: err, text: "access to " + a.called() + " was denied, so you are not logged in (" + e.Err.Error() + ")"}
	}
	return &loginError{name: a.called(), err: err, text: "log in at " + a.called() + ": " + err.Error()}
}

// loginOptions are those of the flags.
func (p *program) loginOptions(f *loginFlags) (*oauth.Options, error) {
	if f.timeout <= 0 {
		return nil, usagef("--timeout must be more than nothing")
	}
	opts := p.oauthOptions()
	opts.Scopes, opts.LoginTimeout, opts.Open = f.scopes, f.timeout, p.openPage
	if slices.ContainsFunc(f.scopes, func(s string) bool { return s == "" || strings.ContainsAny(s, " \t\"\\") }) {
		return nil, usagef("a --scope is one word; repeat the flag for several")
	}
	secret := os.Getenv(secretVariable)
	in := bufio.NewReader(p.stdin)
	if f.secretStdin {
		line, err := bufio.NewReader(io.LimitReader(in, maxSecret)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, &usageError{err: fmt.Errorf("read the secret: %w", err)}
		}
		if secret = strings.TrimSpace(line); secret == "" {
			return nil, usagef("there is no secret on standard input")
		}
	}
	switch {
	case f.clientID == "" && f.secretStdin:
		return nil, usagef("--client-secret-stdin needs --client-id")
	case f.noBrowser && f.secretStdin:
		return nil, usagef("--no-browser and --client-secret-stdin both read standard input: give the secret as %s", secretVariable)
	case f.clientID != "":
		opts.Registrations = []oauth.Registration{{ID: f.clientID, Secret: secret, Keep: true}}
	}
	if f.noBrowser {
		opts.Authorize = oauth.Paste(in, p.stderr)
	}
	return opts, nil
}

// openPage shows the page of the authorization server. Its address is told in any
// case: a browser may open where nobody sees it.
func (p *program) openPage(ctx context.Context, url string) error {
	if err := oauth.OpenBrowser(ctx, url); err != nil {
		p.err.line(plain, "To log in, open this page in a browser on this machine (elsewhere: --no-browser):")
	} else {
		p.err.line(plain, "Your browser shows the page to log in. If it does not, open this:")
	}
	p.err.line(bold, "  "+url)
	return nil
}

// listLogins tells which servers of the configuration need a login.
func (p *program) listLogins(ctx context.Context) error {
	accounts, err := p.accounts()
	if err != nil {
		return err
	}
	accounts = slices.DeleteFunc(accounts, func(a account) bool { return a.Header })
	if len(accounts) == 0 {
		nothing := usagef("the configuration names no server to log in at")
		nothing.hint = "Name one: ferry login URL."
		return nothing
	}
	results := make([]error, len(accounts))
	var asking sync.WaitGroup
	for i, a := range accounts {
		opts, err := p.connectionOptions(a.Endpoint, p.userAgent())
		if err != nil {
			return err
		}
		asking.Go(func() { results[i] = knock(ctx, a.Endpoint, opts) })
	}
	asking.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for i, a := range accounts {
		needed := loginNeeded(results[i])
		switch {
		case needed != nil:
			p.out.linef(yellow, "%s: needs a login: run %q", a.Name, p.loginCommand(a.Name, needed))
		case results[i] != nil:
			p.out.linef(red, "%s: %s", a.Name, problem(results[i]))
		default:
			p.out.linef(green, "%s: needs no login", a.Name)
		}
	}
	return nil
}

// knock connects to a server to see whether it lets us in.
func knock(ctx context.Context, endpoint string, opts *httpclient.Options) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	info := mcp.Implementation{Name: "ferry", Title: "Ferry", Version: version()}
	s, err := client.New(info, nil).Connect(ctx, httpclient.New(endpoint, opts))
	if err != nil {
		return err
	}
	return s.Close()
}

// completeAccount completes the name of a server over HTTP in the shell.
func (p *program) completeAccount(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if accounts, err := p.accounts(); err == nil && len(args) == 0 {
		for _, a := range accounts {
			names = append(names, a.Name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

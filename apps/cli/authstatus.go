package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrymcp/ferry/auth/oauth"
)

func (p *program) authCmd() *cobra.Command {
	c := &cobra.Command{Use: "auth", Short: "See what you have logged in to"}
	status := &cobra.Command{
		Use:   "status [NAME|URL]",
		Short: "Show the logins that are kept",
		Long: `Show the logins that are kept: at which server, with which scopes, until when. No
server is asked, and no token is shown.

Exit codes: 0 all of them are of use, 5 one has come to its end, or there is none
at the server that was named.`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: p.completeAccount,
	}
	p.configFlag(status)
	status.Flags().BoolVar(&p.flags.json, "json", false, "print the result as JSON, errors too")
	status.RunE = func(c *cobra.Command, args []string) error { return p.authStatus(c.Context(), args) }
	c.AddCommand(status)
	return c
}

// The states of a login.
const (
	stateGood    = "good"    // the token can be used
	stateStale   = "stale"   // it is refreshed at its next use
	stateEnded   = "ended"   // the user has to log in again
	stateNone    = "none"    // the user has not logged in
	stateHeader  = "header"  // the configuration says who calls
	stateUnknown = "unknown" // what is kept cannot be read
)

// A loginReport is what ferry auth status says of a server.
type loginReport struct {
	Name        string   `json:"name,omitempty"`
	Endpoint    string   `json:"endpoint"`
	State       string   `json:"state"`
	Issuer      string   `json:"issuer,omitempty"`
	ClientID    string   `json:"clientId,omitempty"`
	Scopes      []string `json:"scopes,omitempty"`
	Expires     string   `json:"expires,omitempty"`
	Refreshable bool     `json:"refreshable,omitempty"`
	Problem     string   `json:"problem,omitempty"`

	status *oauth.Status
}

func (p *program) authStatus(ctx context.Context, args []string) error {
	t, err := p.tokens()
	if err != nil {
		return err
	}
	var accounts []account
	if len(args) > 0 {
		a, err := p.account(args[0])
		if err != nil {
			return err
		}
		accounts = []account{*a}
	} else if accounts, err = p.knownAccounts(ctx, t); err != nil {
		return err
	}
	reports := make([]loginReport, 0, len(accounts))
	var ended *account
	for _, a := range accounts {
		r := p.loginReport(ctx, t, &a)
		reports = append(reports, r)
		useless := r.State == stateEnded || r.State == stateUnknown || r.State == stateNone && len(args) > 0
		if useless && ended == nil {
			ended = &a
		}
	}
	if p.flags.json {
		if err := p.printValue(struct {
			Logins []loginReport `json:"logins"`
		}{reports}); err != nil {
			return err
		}
	} else {
		p.showLogins(reports)
	}
	if ended != nil {
		return &loginError{name: ended.called(), command: p.loginCommand(ended.called(), nil), told: true}
	}
	return nil
}

// knownAccounts are the servers of the configuration, and all others that the user
// has logged in at.
func (p *program) knownAccounts(ctx context.Context, t *tokens) ([]account, error) {
	accounts, err := p.accounts()
	if err != nil || t.store == nil {
		return accounts, err
	}
	endpoints, err := t.store.Endpoints(ctx)
	if err != nil {
		return nil, err
	}
	slices.Sort(endpoints)
	for _, e := range endpoints {
		if !slices.ContainsFunc(accounts, func(a account) bool { return a.Endpoint == e }) {
			accounts = append(accounts, account{Endpoint: e})
		}
	}
	return accounts, nil
}

func (p *program) loginReport(ctx context.Context, t *tokens, a *account) loginReport {
	r := loginReport{Name: a.Name, Endpoint: a.Endpoint}
	s, err := t.client.Status(ctx, a.Endpoint)
	switch {
	case a.Header:
		r.State = stateHeader
		return r
	case err != nil:
		r.State, r.Problem = stateUnknown, err.Error()
		return r
	case s == nil:
		r.State = stateNone
		return r
	}
	r.status = s
	r.Issuer, r.ClientID, r.Scopes, r.Refreshable = s.Issuer, s.ClientID, s.Scopes, s.Refreshable
	r.State = stateGood
	if !s.Expires.IsZero() {
		r.Expires = s.Expires.UTC().Format(time.RFC3339)
		if !time.Now().Before(s.Expires) {
			r.State = stateEnded
			if s.Refreshable {
				r.State = stateStale
			}
		}
	}
	return r
}

// showLogins shows reports to people.
func (p *program) showLogins(reports []loginReport) {
	if len(reports) == 0 {
		p.out.line(plain, "You have not logged in anywhere.")
		return
	}
	for _, r := range reports {
		head := r.Endpoint
		if r.Name != "" {
			head = r.Name + "  " + r.Endpoint
		}
		p.out.line(bold, head)
		a := account{Name: r.Name, Endpoint: r.Endpoint}
		again := "run \"" + p.loginCommand(a.called(), nil) + "\""
		switch r.State {
		case stateHeader:
			p.out.line(plain, "  the configuration has an Authorization header")
		case stateNone:
			p.out.line(dim, "  not logged in")
		case stateUnknown:
			p.out.line(red, "  "+r.Problem)
		case stateEnded:
			p.out.line(red, "  the login has come to its end: "+again)
		}
		if r.status != nil {
			for _, line := range statusLines(r.status) {
				p.out.line(plain, line)
			}
		}
	}
}

// statusLines say what is kept of a login.
func statusLines(s *oauth.Status) []string {
	lines := []string{"  issuer   " + s.Issuer}
	if len(s.Scopes) > 0 {
		lines = append(lines, "  scopes   "+strings.Join(s.Scopes, " "))
	}
	until := "not known"
	if !s.Expires.IsZero() {
		until = s.Expires.Local().Format(time.DateTime)
	}
	if s.Refreshable {
		until += ", refreshed by itself"
	}
	return append(lines, "  expires  "+until)
}

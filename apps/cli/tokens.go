package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/ferrymcp/ferry/apps/config"
	"github.com/ferrymcp/ferry/apps/credentials"
	"github.com/ferrymcp/ferry/auth/oauth"
	"github.com/ferrymcp/ferry/httpclient"
)

// homepage is what authorization servers link to.
const homepage = "https://github.com/ferrymcp/ferry"

// A tokens is the use of what the user has logged in with. It never opens a browser:
// scripts must not.
type tokens struct {
	client *oauth.Client
	store  *credentials.Store // nil: there is no place for credentials
}

// tokens returns the use of the user's credentials, which ends with the program.
func (p *program) tokens() (*tokens, error) {
	if p.stored != nil {
		return p.stored, nil
	}
	t := new(tokens)
	opts := p.oauthOptions()
	opts.Unattended = true
	var err error
	if t.store, err = p.credentials(); err == nil {
		opts.Store = t.store
	}
	if t.client, err = oauth.New(opts); err != nil {
		return nil, err
	}
	p.stored = t
	return t, nil
}

// credentials opens the user's credentials.
func (p *program) credentials() (*credentials.Store, error) {
	opts := new(credentials.Options)
	if p.warn || p.flags.verbose {
		opts.Warn = func(text string) { p.err.line(yellow, text) }
	}
	return credentials.New(opts)
}

// oauthOptions are who we are to authorization servers.
func (p *program) oauthOptions() *oauth.Options {
	return &oauth.Options{Name: "Ferry", URI: homepage, Logger: p.logger(slog.LevelError)}
}

// close gives back what the commands have shared.
func (p *program) close() {
	if p.stored != nil {
		_ = p.stored.client.Close()
	}
}

// authorized returns the client for requests to an endpoint, which adds the token of
// the user; nil where the headers say who calls.
func (p *program) authorized(address string, headers http.Header) (*http.Client, error) {
	if headers.Get("Authorization") != "" {
		return nil, nil
	}
	t, err := p.tokens()
	if err != nil {
		return nil, err
	}
	return t.client.HTTPClient(address), nil
}

// upstream returns the client for the requests of ferry up to a server; nil where the
// headers of the configuration say who calls.
func (t *tokens) upstream(s *config.Server) *http.Client {
	if hasHeader(s) {
		return nil
	}
	return t.client.HTTPClient(s.URL)
}

// hasHeader reports whether the configuration of a server says by itself who calls.
func hasHeader(s *config.Server) bool {
	for name := range s.Headers {
		if strings.EqualFold(name, "Authorization") {
			return true
		}
	}
	return false
}

// overHTTP reports whether a server of the configuration is one to log in at.
func overHTTP(s *config.Server) bool { return s.Kind == config.HTTP || s.Kind == config.SSE }

// loginNeeded returns the error that says that the user has to log in; nil if that is
// not what is wrong.
func loginNeeded(err error) *oauth.Error {
	e, ok := errors.AsType[*oauth.Error](err)
	if !ok || !errors.Is(e, oauth.ErrLoginRequired) {
		return nil
	}
	return e
}

// loginCommand is what a user types to log in. The server has chosen the scopes, and
// users copy the line into a shell: those that are no plain words there are left out.
func (p *program) loginCommand(name string, e *oauth.Error) string {
	words := []string{"ferry login", name}
	if !isURL(name) && p.flags.config != "" {
		words = append(words, "--config", p.flags.config)
	}
	if e != nil {
		for _, scope := range e.Scopes {
			if plainWord.MatchString(scope) {
				words = append(words, "--scope", scope)
			}
		}
	}
	return strings.Join(words, " ")
}

// plainWord is a word in which no shell sees anything else, nor ferry a flag.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@+,=*-]*$`)

// A loginError tells that a server lets nobody in who has not logged in.
type loginError struct {
	name    string // as the user calls the server
	command string // that helps
	text    string // what is wrong, if that is something else
	told    bool   // the user knows
	err     error
}

func (e *loginError) Error() string {
	if e.text != "" {
		return e.text
	}
	return e.name + " needs a login"
}

func (e *loginError) Unwrap() error { return e.err }

func (e *loginError) hint() string {
	if e.command == "" {
		return ""
	}
	return fmt.Sprintf("Run %q first.", e.command)
}

// refused makes an error about the login of one that a target gave.
func (p *program) refused(err error, t *target) error {
	needed := loginNeeded(err)
	if needed == nil {
		return err
	}
	return &loginError{name: t.name, command: p.loginCommand(t.login, needed), err: err}
}

// An account is a place to log in at: an endpoint, and what the user calls it.
type account struct {
	Name     string // of the configuration; empty for URLs
	Endpoint string
	Header   bool // the configuration has a header that says who calls
}

func (a *account) called() string {
	if a.Name != "" {
		return a.Name
	}
	return a.Endpoint
}

// account finds the endpoint that a name or URL stands for.
func (p *program) account(name string) (*account, error) {
	if isURL(name) {
		u, err := url.Parse(name)
		if err != nil || u.Host == "" {
			return nil, usagef("%q is not a URL", name)
		}
		if u.User != nil {
			return nil, usagef("a login has no password in its URL")
		}
		return &account{Endpoint: endpointName(u)}, nil
	}
	accounts, err := p.accounts()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, a := range accounts {
		if a.Name == name {
			return &a, nil
		}
		names = append(names, a.Name)
	}
	unknown := usagef("%q is neither a URL nor the name of a server over HTTP in the configuration", name)
	unknown.hint = suggest("servers over HTTP", name, names)
	return nil, unknown
}

// accounts are the servers over HTTP that the configuration names.
func (p *program) accounts() ([]account, error) {
	cfg, err := p.configuration()
	if err != nil {
		return nil, err
	}
	var list []account
	for _, s := range cfg.Servers {
		if s.Disabled || !overHTTP(&s) {
			continue
		}
		u, err := url.Parse(s.URL)
		if err != nil {
			return nil, usagef("server %q: its URL cannot be read", s.Name)
		}
		list = append(list, account{Name: s.Name, Endpoint: endpointName(u), Header: hasHeader(&s)})
	}
	return list, nil
}

// endpointName is the URL of an endpoint without what may be a secret in it.
func endpointName(u *url.URL) string {
	c := *u
	c.User, c.RawQuery, c.Fragment = nil, "", ""
	return c.String()
}

// connectionOptions are those of a connection over HTTP with the user's credentials.
func (p *program) connectionOptions(address string, h http.Header) (*httpclient.Options, error) {
	c, err := p.authorized(address, h)
	if err != nil {
		return nil, err
	}
	return &httpclient.Options{Header: h, Client: c}, nil
}

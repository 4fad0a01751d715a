package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrymcp/ferry/apps/config"
	"github.com/ferrymcp/ferry/apps/servers"
	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/transport"
)

// A target is a server to talk to.
type target struct {
	name      string // as people know it, without secrets
	login     string // what to name to log in there
	carrier   string // how messages travel, for --trace
	transport transport.Transport
	close     func() // once the session is closed; may be nil
}

// locate takes the target off the arguments: the command after "--", or the
// first argument, or the default endpoint when optional says so and there is
// no argument that could be one.
func (p *program) locate(c *cobra.Command, args []string, optional bool) (*target, []string, error) {
	rest, command := split(c, args)
	switch {
	case c.ArgsLenAtDash() >= 0:
		t, err := p.commandTarget(command)
		return t, rest, err
	case len(rest) > 0:
		t, err := p.namedTarget(c.Context(), rest[0])
		return t, rest[1:], err
	case optional:
		t, err := p.urlTarget(defaultEndpoint, nil)
		return t, nil, err
	default:
		return nil, nil, &usageError{err: errors.New("no TARGET given"), command: c.CommandPath()}
	}
}

func (p *program) commandTarget(command []string) (*target, error) {
	switch {
	case len(command) == 0:
		return nil, usagef("no command after --")
	case len(p.flags.headers) > 0:
		return nil, usagef("--header is for servers over HTTP")
	}
	return &target{
		name:      command[0],
		carrier:   "stdio",
		transport: &transport.Command{Path: command[0], Args: command[1:], Stderr: p.childOutput()},
	}, nil
}

// childOutput is where servers that are started write what they have to say.
func (p *program) childOutput() io.Writer {
	if !p.flags.verbose {
		return nil
	}
	return writerFunc(func(b []byte) (int, error) {
		p.err.line(dim, strings.TrimRight(string(b), "\r\n"))
		return len(b), nil
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func isURL(s string) bool {
	scheme, _, found := strings.Cut(s, "://")
	return found && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// namedTarget finds a URL, a name from the configuration, or a server that
// comes with the program.
func (p *program) namedTarget(ctx context.Context, name string) (*target, error) {
	if isURL(name) {
		return p.urlTarget(name, nil)
	}
	cfg, err := p.configuration()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range entries(cfg) {
		if s.Name == name {
			return p.entryTarget(ctx, cfg, s)
		}
		names = append(names, s.Name)
	}
	for _, b := range servers.Names() {
		if b == name {
			return p.builtinTarget(ctx, config.Server{Name: name, Kind: config.Builtin, Command: name}, "")
		}
		if !slices.Contains(names, b) {
			names = append(names, b)
		}
	}
	unknown := usagef("no server %q: neither a URL nor a name from %s", name, cfg.Path)
	if cfg.Path == "" {
		unknown = usagef("no server %q: neither a URL nor a name that comes with ferry, and there is no configuration here", name)
	}
	if _, err := exec.LookPath(name); err == nil {
		unknown.hint = fmt.Sprintf("To start the program %s, write it last, after --.", name)
	} else if strings.ContainsAny(name, ":/") {
		unknown.hint = "A URL begins with http:// or https://."
	} else {
		unknown.hint = suggest("servers", name, names)
	}
	return nil, unknown
}

// entries are all the servers a configuration names.
func entries(cfg *config.Config) []config.Server {
	return slices.Concat(cfg.Servers, cfg.Ferry.Builtins)
}

// configuration reads the file of --config, or the one in the working
// directory. It is empty, and has no Path, when there is none.
func (p *program) configuration() (*config.Config, error) {
	path := p.flags.config
	if path == "" {
		found, err := config.Find(".")
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return &config.Config{}, nil
		case err != nil:
			return nil, &usageError{err: err}
		}
		path = found
	}
	cfg, warnings, err := config.Load(path)
	if err != nil {
		return nil, &usageError{err: err}
	}
	if p.flags.verbose || p.warn {
		for _, w := range warnings {
			p.err.line(yellow, w.String())
		}
	}
	return cfg, nil
}

// entryTarget is a server from the configuration.
func (p *program) entryTarget(ctx context.Context, cfg *config.Config, s config.Server) (*target, error) {
	if s.Disabled {
		return nil, usagef("server %q is disabled in %s", s.Name, cfg.Path)
	}
	if p.flags.timeout == 0 {
		p.flags.timeout = s.Timeout
	}
	switch s.Kind {
	case config.Stdio:
		env := make([]string, 0, len(s.Env))
		for name, value := range s.Env {
			env = append(env, name+"="+value)
		}
		return &target{name: s.Name, carrier: "stdio", transport: &transport.Command{
			Path: s.Command, Args: s.Args, Dir: s.Cwd, Env: env, Stderr: p.childOutput(),
		}}, nil
	case config.Builtin:
		return p.builtinTarget(ctx, s, cfg.Dir)
	default:
		t, err := p.urlTarget(s.URL, s.Headers)
		if err != nil {
			return nil, err
		}
		t.name, t.login = s.Name, s.Name
		if older, ok := t.transport.(transport.Fallbacker); ok && s.Kind == config.SSE {
			t.carrier, t.transport = "sse", older.Fallback()
		}
		return t, nil
	}
}

// urlTarget is a server over HTTP. Headers of the command line replace those of
// the configuration.
func (p *program) urlTarget(address string, headers map[string]string) (*target, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, usagef("%q is not a URL", address)
	}
	h := p.userAgent()
	for name, value := range headers {
		h.Set(name, value)
	}
	for _, header := range p.flags.headers {
		name, value, found := strings.Cut(header, ":")
		if name = strings.TrimSpace(name); !found || name == "" {
			return nil, usagef(`a --header must have the form "Name: value"`)
		}
		h.Set(name, strings.TrimSpace(value))
	}
	opts, err := p.connectionOptions(address, h)
	if err != nil {
		return nil, err
	}
	name := endpointName(u)
	return &target{name: name, login: name, carrier: "http", transport: httpclient.New(address, opts)}, nil
}

// userAgent are the headers of all requests.
func (p *program) userAgent() http.Header {
	return http.Header{"User-Agent": {"ferry/" + version()}}
}

// completeTarget completes a name from the configuration in the shell.
func (p *program) completeTarget(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	names := servers.Names()
	if cfg, err := p.configuration(); err == nil {
		for _, s := range entries(cfg) {
			if !s.Disabled && !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

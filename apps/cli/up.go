package cli

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrymcp/ferry/apps/config"
	"github.com/ferrymcp/ferry/apps/gateway"
	"github.com/ferrymcp/ferry/apps/servers"
	"github.com/ferrymcp/ferry/host"
	"github.com/ferrymcp/ferry/mcp"
)

// defaultWait is how long ferry up waits for slow servers before it serves.
const defaultWait = 3 * time.Second

// upFlags are the flags of ferry up.
type upFlags struct {
	address     string
	stdio       bool
	dir         string
	noBuiltin   bool
	readOnly    bool
	separator   string
	allowRemote bool
	wait        time.Duration
	auth        authFlags
}

func (p *program) upCommand() *cobra.Command {
	f := new(upFlags)
	c := &cobra.Command{
		Use:   "up",
		Short: "Serve all servers at one endpoint",
		Long: `Serve all servers at one endpoint.

Without a configuration these are the servers that come with ferry and have
something to do in this folder, such as files and time. With mcp.json, .mcp.json or .vscode/mcp.json, those
that it names are there too. A server that is down is left out until it is up.`,
		Args: cobra.NoArgs,
	}
	flags := c.Flags()
	flags.StringVar(&f.address, "address", defaultAddress, "`address` to serve at")
	flags.BoolVar(&f.stdio, "stdio", false, "serve on standard input and output instead")
	flags.StringVar(&p.flags.config, "config", "", "`file` that names servers")
	flags.StringVar(&f.dir, "dir", ".", "`folder` that the server \"files\" works in")
	flags.BoolVar(&f.noBuiltin, "no-builtin", false, "leave out the servers that come with ferry")
	flags.BoolVar(&f.readOnly, "read-only", false, "let the servers that come with ferry change nothing")
	flags.StringVar(&f.separator, "separator", "", "`text` between the name of a server and that of a tool (default \"_\")")
	flags.DurationVar(&f.wait, "wait", defaultWait, "`time` to wait for servers that are slow to start; later they join")
	flags.BoolVar(&f.allowRemote, "allow-remote", false, "let other machines connect, which anybody there can then do")
	f.auth.add(flags)
	flags.BoolVarP(&p.flags.verbose, "verbose", "v", false, "show what happens, and what servers write to standard error")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if f.stdio && flags.Changed("address") {
			return usagef("--stdio and --address exclude each other")
		}
		if f.stdio && f.auth.issuer != "" {
			return usagef("--auth is for HTTP: whoever starts a program with --stdio has it to himself")
		}
		if f.wait < 0 {
			return usagef("--wait must not be negative")
		}
		cfg, err := p.upConfig(c, f)
		if err != nil {
			return err
		}
		if f.stdio {
			return p.upStdio(c.Context(), cfg, f)
		}
		return p.upHTTP(c.Context(), cfg, f)
	}
	return c
}

// separators are what the configuration allows as a separator.
var separators = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,8}$`)

// upConfig is the configuration with what the flags say about it.
func (p *program) upConfig(c *cobra.Command, f *upFlags) (*config.Config, error) {
	p.warn = true
	cfg, err := p.configuration()
	if err != nil {
		return nil, err
	}
	if cfg.Dir == "" {
		if cfg.Dir, err = filepath.Abs("."); err != nil {
			return nil, err
		}
	}
	if f.separator != "" {
		if !separators.MatchString(f.separator) {
			return nil, usagef("--separator may hold up to 8 letters, digits, \"_\", \"-\" and \".\"")
		}
		cfg.Ferry.Separator = f.separator
	}
	if !c.Flags().Changed("address") && cfg.Ferry.Listen != "" {
		f.address = cfg.Ferry.Listen
	}
	dir, err := filepath.Abs(f.dir)
	if err != nil {
		return nil, err
	}
	f.addBuiltins(cfg, dir, c.Flags().Changed("dir"))
	if !slices.ContainsFunc(entries(cfg), func(s config.Server) bool { return !s.Disabled }) {
		nothing := usagef("there is nothing to serve")
		nothing.hint = "Name servers in mcp.json, or leave out --no-builtin."
		return nil, nothing
	}
	return cfg, nil
}

// addBuiltins adds the servers that come with the program, unless the
// configuration says which of them to serve, or has others of their names.
func (f *upFlags) addBuiltins(cfg *config.Config, dir string, dirGiven bool) {
	if f.noBuiltin {
		cfg.Ferry.Builtins = nil
		return
	}
	if len(cfg.Ferry.Builtins) == 0 {
		cfg.Ferry.Builtins = offered(cfg, dir)
	}
	for i := range cfg.Ferry.Builtins {
		s := &cfg.Ferry.Builtins[i]
		b, ok := servers.Find(s.Command)
		if !ok {
			continue // the gateway says so
		}
		s.Args = slices.Clone(s.Args)
		if f.readOnly && b.Has(servers.ReadOnlyFlag) {
			s.Args = append(s.Args, "--"+servers.ReadOnlyFlag)
		}
		isFlag := func(arg string) bool { return strings.HasPrefix(arg, "-") }
		if s.Command == "files" && dirGiven && !slices.ContainsFunc(s.Args, func(arg string) bool { return !isFlag(arg) }) {
			s.Args = append(s.Args, dir)
		}
	}
}

// offered are the servers that come with the program and have something to do in a
// folder, without those whose names the configuration gives to others.
func offered(cfg *config.Config, dir string) []config.Server {
	var list []config.Server
	for _, b := range servers.All {
		if b.Offer == nil || slices.ContainsFunc(cfg.Servers, func(s config.Server) bool { return s.Name == b.Name }) {
			continue
		}
		if args, ok := b.Offer(dir); ok {
			list = append(list, config.Server{Name: b.Name, Kind: config.Builtin, Command: b.Name, Args: args, Prefix: b.Name})
		}
	}
	return list
}

// openGateway connects to all servers. It is nil when ctx has ended.
func (p *program) openGateway(ctx context.Context, cfg *config.Config, wait time.Duration) (*gateway.Gateway, error) {
	if wait == 0 {
		wait = -1 // the host takes 0 for its default
	}
	t, err := p.tokens()
	if err != nil {
		return nil, err
	}
	gw, err := gateway.Open(ctx, cfg, &gateway.Options{
		Host:       host.Options{Grace: wait},
		Info:       mcp.Implementation{Name: "ferry", Title: "Ferry", Version: version()},
		HTTPClient: t.upstream,
		Logger:     p.logger(slog.LevelError),
	})
	switch {
	case err == nil:
		return gw, nil
	case ctx.Err() != nil:
		return nil, nil
	default:
		return nil, &usageError{err: err}
	}
}

func (p *program) upStdio(ctx context.Context, cfg *config.Config, f *upFlags) error {
	// First of all, so that nothing else gets to standard output.
	conn, err := p.stdio()
	if err != nil {
		return &unreachableError{err: err}
	}
	gw, err := p.openGateway(ctx, cfg, f.wait)
	if gw == nil {
		return errors.Join(err, conn.Close())
	}
	defer func() { _ = gw.Close() }()
	for _, s := range gw.Status() {
		if s.State != host.Ready {
			p.err.line(yellow, p.statusLine(s, 0))
		}
	}
	stop := p.watch(gw)
	defer stop()
	return p.serveConn(ctx, gw.Server(), conn)
}

func (p *program) upHTTP(ctx context.Context, cfg *config.Config, f *upFlags) error {
	l, err := listen(ctx, f.address, f.allowRemote || f.auth.issuer != "")
	if err != nil {
		return err
	}
	log := p.logger(slog.LevelError)
	e := &endpoint{listener: l, public: f.auth.url, log: log}
	if e.auth, err = f.auth.protect(e, log); err != nil {
		return errors.Join(err, l.Close())
	}
	defer func() { _ = e.auth.close() }()
	gw, err := p.openGateway(ctx, cfg, f.wait)
	if gw == nil {
		return errors.Join(err, l.Close())
	}
	defer func() { _ = gw.Close() }()
	e.server, e.health = gw.Server(), health(gw)
	p.banner(e, gw, cfg)
	stop := p.watch(gw)
	defer stop()
	if err := e.serve(ctx); err != nil {
		return err
	}
	p.err.line(plain, "ferry: stopped")
	return nil
}

// watch tells of servers that come and go, until it is stopped.
func (p *program) watch(gw *gateway.Gateway) (stop func()) {
	changed := make(chan struct{}, 1)
	done := make(chan struct{})
	told := map[string]string{}
	for _, s := range gw.Status() {
		told[s.Name] = p.statusLine(s, 0)
	}
	unhook := gw.Host().Watch(host.Hooks{Changed: func() {
		select {
		case changed <- struct{}{}:
		default: // there is a change to look at already
		}
	}})
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			for _, s := range gw.Status() {
				line := p.statusLine(s, 0)
				if s.State == host.Connecting || s.State == host.Stopped || told[s.Name] == line {
					continue
				}
				told[s.Name] = line
				p.err.line(stateStyle(s.State), line)
			}
			select {
			case <-changed:
			case <-done:
				return
			}
		}
	})
	return sync.OnceFunc(func() {
		unhook()
		close(done)
		watching.Wait()
	})
}

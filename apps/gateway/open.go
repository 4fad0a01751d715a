package gateway

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"

	"github.com/ferrymcp/ferry/apps/config"
	"github.com/ferrymcp/ferry/host"
	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// Open connects to the servers of a configuration, those that come with this
// program first, and returns a gateway to them; entries that are disabled are left
// out. It returns when all are ready, or after Options.Host.Grace. A server
// that cannot be reached is not an error; an entry that cannot be right is.
//
// The end of ctx ends the wait. The connections last until Close.
func Open(ctx context.Context, cfg *config.Config, opts *Options) (*Gateway, error) {
	o := opts.filled()
	if cfg.Ferry.Separator != "" {
		o.Host.Separator = cfg.Ferry.Separator
	}
	declare(&o.Host.Capabilities)
	own := newBuiltins(ctx, o.Logger)
	h := host.New(o.Info, &o.Host)
	if err := mount(h, cfg, own, &o); err != nil {
		return nil, errors.Join(err, h.Close(), own.close())
	}
	g := New(h, &o)
	g.builtins = own
	if err := h.Start(ctx); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// declare adds what servers with sessions can ask during a call: that is passed on
// to the caller. Roots are asked for outside of calls too, when nobody could say
// whose.
func declare(c *mcp.ClientCapabilities) {
	yes := &mcp.Support{}
	if c.Elicitation == nil {
		c.Elicitation = &mcp.ElicitationCapability{Form: yes, URL: yes}
	}
	if c.Sampling == nil {
		c.Sampling = &mcp.SamplingCapability{Tools: yes}
	}
}

// mount adds all servers of a configuration.
func mount(h *host.Host, cfg *config.Config, own *builtins, o *Options) error {
	var problems []error
	for _, s := range slices.Concat(cfg.Ferry.Builtins, cfg.Servers) {
		if s.Disabled {
			continue
		}
		t, err := reach(&s, cfg.Dir, own, o)
		if err == nil {
			err = h.Add(host.Upstream{Name: s.Name, Transport: t, Prefix: &s.Prefix, Timeout: s.Timeout, Show: chooses(s.Tools)})
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("server %q: %w", s.Name, err))
		}
	}
	return errors.Join(problems...)
}

// reach makes the transport of an entry.
func reach(s *config.Server, dir string, own *builtins, o *Options) (transport.Transport, error) {
	switch s.Kind {
	case config.Builtin:
		return own.open(s, dir)
	case config.Stdio:
		return &transport.Command{
			Path: s.Command, Args: s.Args, Dir: s.Cwd, Env: environment(s.Env),
			Stderr: &lineLog{log: o.Logger, server: s.Name},
		}, nil
	case config.HTTP:
		return httpclient.New(s.URL, o.connection(s)), nil
	case config.SSE:
		return httpclient.NewSSE(s.URL, o.connection(s)), nil
	default:
		return nil, fmt.Errorf("unknown kind %q", s.Kind)
	}
}

// connection returns how to send requests to a server over HTTP.
func (o *Options) connection(s *config.Server) *httpclient.Options {
	c := &httpclient.Options{Header: header(s.Headers)}
	if o.HTTPClient != nil {
		c.Client = o.HTTPClient(s)
	}
	return c
}

func header(values config.Secrets) http.Header {
	h := http.Header{}
	for name, value := range values {
		h.Set(name, value)
	}
	return h
}

func environment(vars config.Secrets) []string {
	var env []string
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		env = append(env, name+"="+vars[name])
	}
	return env
}

// chooses makes a function of a filter; nil when it shows all.
func chooses(f config.Filter) func(string) bool {
	if len(f.Allow) == 0 && len(f.Deny) == 0 {
		return nil
	}
	matches := func(patterns []string, name string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool {
			ok, err := path.Match(p, name)
			return ok && err == nil
		})
	}
	return func(tool string) bool {
		return (len(f.Allow) == 0 || matches(f.Allow, tool)) && !matches(f.Deny, tool)
	}
}

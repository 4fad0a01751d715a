package servers

import (
	"context"
	"net/netip"

	"github.com/spf13/pflag"

	"github.com/ferrymcp/ferry/apps/servers/fetch"
	"github.com/ferrymcp/ferry/netguard"
)

// fetchFlags are those of the server "fetch".
func fetchFlags(flags *pflag.FlagSet) Open {
	var o fetch.Options
	var dialer netguard.Dialer
	flags.StringVar(&o.UserAgent, "user-agent", "", "`name` that sites are told")
	flags.BoolVar(&o.IgnoreRobots, "ignore-robots-txt", false, "fetch what sites disallow to programs")
	flags.StringVar(&o.Proxy, "proxy-url", "", "`URL` of a proxy, which has to refuse private addresses itself")
	flags.StringArrayVar(&dialer.Hosts, "allow-host", nil, "`host` that may be fetched from although it is not public; may be given again")
	private := flags.Bool("allow-private", false, "fetch from this machine and its network")
	return func(_ context.Context, s *Setup, args []string) (*Opened, error) {
		if err := atMost(0, args); err != nil {
			return nil, err
		}
		if *private {
			dialer.Prefixes = privatePrefixes
		}
		o.Dialer, o.Server = &dialer, s.Server
		srv, err := fetch.New(&o)
		if err != nil {
			return nil, err
		}
		return &Opened{Server: srv, Closer: srv}, nil
	}
}

// privatePrefixes are this machine and private networks. Link-local, shared and unique
// local addresses are left out, because the metadata of clouds are among them.
var privatePrefixes = []netip.Prefix{
	netip.MustParsePrefix("127.0.0.0/8"),
	netip.MustParsePrefix("::1/128"),
	netip.MustParsePrefix("10.0.0.0/8"),
	netip.MustParsePrefix("172.16.0.0/12"),
	netip.MustParsePrefix("192.168.0.0/16"),
}

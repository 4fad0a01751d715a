package servers

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ferrymcp/ferry/apps/servers/everything"
)

// everythingFlags are those of the server "everything". Its argument is the carrier.
func everythingFlags(flags *pflag.FlagSet) Open {
	var o everything.Options
	flags.BoolVar(&o.Environment, "env", false, "offer the tool that shows the environment variables, with whatever secrets are in them")
	return func(_ context.Context, s *Setup, args []string) (*Opened, error) {
		if err := atMost(1, args); err != nil {
			return nil, err
		}
		var address string
		switch carrier := append(args, "stdio")[0]; carrier {
		case "stdio":
		case "sse", "streamableHttp":
			address = "127.0.0.1:" + cmp.Or(s.env("PORT"), "3001")
		default:
			return nil, fmt.Errorf("%q is none of stdio, sse and streamableHttp", carrier)
		}
		fetch, err := fetchLimits(s)
		if err != nil {
			return nil, err
		}
		o.Fetch, o.Server = fetch, s.Server
		srv := everything.New(&o)
		return &Opened{Server: srv.Server, Closer: srv, Address: address}, nil
	}
}

// fetchLimits reads the variables that bound what the server fetches.
func fetchLimits(s *Setup) (f everything.Fetch, err error) {
	if size := s.env("GZIP_MAX_FETCH_SIZE"); size != "" {
		if f.Size, err = strconv.ParseInt(size, 10, 64); err != nil || f.Size <= 0 {
			return f, fmt.Errorf("GZIP_MAX_FETCH_SIZE is %q, which is no number of bytes", size)
		}
	}
	if limit := s.env("GZIP_MAX_FETCH_TIME_MILLIS"); limit != "" {
		millis, err := strconv.ParseInt(limit, 10, 32)
		if err != nil || millis <= 0 {
			return f, fmt.Errorf("GZIP_MAX_FETCH_TIME_MILLIS is %q, which is no number of milliseconds", limit)
		}
		f.Time = time.Duration(millis) * time.Millisecond
	}
	for domain := range strings.SplitSeq(s.env("GZIP_ALLOWED_DOMAINS"), ",") {
		if domain = strings.ToLower(strings.TrimSpace(domain)); domain != "" {
			f.Domains = append(f.Domains, domain)
		}
	}
	return f, nil
}

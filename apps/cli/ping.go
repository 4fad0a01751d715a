package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

func (p *program) pingCommand() *cobra.Command {
	var count int
	var interval time.Duration
	c := &cobra.Command{
		Use:   "ping [TARGET]",
		Short: "Measure how long a server takes to answer",
	}
	c.Flags().IntVarP(&count, "count", "n", 4, "how `many` times")
	c.Flags().DurationVarP(&interval, "interval", "i", time.Second, "`time` between two pings")
	c.RunE = func(c *cobra.Command, args []string) error {
		if count < 1 || interval < 0 {
			return usagef("--count must be at least 1 and --interval not negative")
		}
		return p.ask(c, args, true, func(ctx context.Context, s *session, rest []string) error {
			if len(rest) > 0 {
				return usagef("unexpected argument %q", rest[0])
			}
			return s.ping(ctx, count, interval)
		})
	}
	return c
}

// A pingReport is what ping --json prints, in milliseconds.
type pingReport struct {
	Server   string    `json:"server"`
	Revision string    `json:"revision"`
	Times    []float64 `json:"times"`
	Min      float64   `json:"min"`
	Mean     float64   `json:"mean"`
	Max      float64   `json:"max"`
}

func (r *pingReport) add(took time.Duration) {
	ms := float64(took.Microseconds()) / 1000
	r.Times = append(r.Times, ms)
	if len(r.Times) == 1 {
		r.Min, r.Max = ms, ms
	}
	r.Min, r.Max = min(r.Min, ms), max(r.Max, ms)
	r.Mean += (ms - r.Mean) / float64(len(r.Times))
}

func (s *session) ping(ctx context.Context, count int, interval time.Duration) error {
	p := s.program
	report := &pingReport{Server: s.target.name, Revision: s.Revision()}
	for i := range count {
		if i > 0 && !pause(ctx, interval) {
			return fmt.Errorf("ping: %w", context.Cause(ctx))
		}
		began := time.Now()
		if err := s.Ping(ctx); err != nil {
			return err
		}
		took := time.Since(began)
		report.add(took)
		if !p.flags.json {
			p.out.linef(plain, "%s: %d: %.3f ms", report.Server, i+1, float64(took.Microseconds())/1000)
		}
	}
	if p.flags.json {
		return p.printValue(report)
	}
	if count > 1 {
		p.out.linef(plain, "min/mean/max %.3f/%.3f/%.3f ms", report.Min, report.Mean, report.Max)
	}
	return nil
}

// pause waits, and reports whether it got to the end of it.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

package clock

import (
	"context"
	"fmt"
	"time"

	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// version is what the server says of itself; it follows its tools.
const version = "1.0.0"

// Options configures the server. Nil is valid.
type Options struct {
	// Local is the time zone of the person asking, which the tools'
	// descriptions tell the model; this machine's if empty.
	Local string
	// Now tells the time; time.Now if nil.
	Now func() time.Time
	// Server configures what is not special to this server; nil is valid.
	Server *server.Options
}

// New makes the server. The error is about Options.Local.
func New(opts *Options) (*server.Server, error) {
	if opts == nil {
		opts = &Options{}
	}
	c := &clock{now: opts.Now}
	if c.now == nil {
		c.now = time.Now
	}
	local := opts.Local
	if local == "" {
		local = localZone()
	}
	loc, err := zone(local)
	if err != nil {
		return nil, fmt.Errorf("local time zone: %w", err)
	}
	srv := server.New(mcp.Implementation{Name: "time", Title: "Time", Version: version}, opts.Server)
	hint := fmt.Sprintf(" The local time zone is %s: use it when none is named.", loc)
	server.AddTool(srv, mcp.Tool{
		Name:        "get_current_time",
		Title:       "Current time",
		Description: "Tells the current date and time in a time zone." + hint,
		Annotations: hints(false),
	}, func(_ context.Context, _ *server.Call, in currentTime) (moment, error) { return c.current(in) })
	server.AddTool(srv, mcp.Tool{
		Name:  "convert_time",
		Title: "Convert time",
		Description: "Converts a time of today in one time zone to another time zone, " +
			"with the summer time of that day." + hint,
		Annotations: hints(true),
	}, func(_ context.Context, _ *server.Call, in convertTime) (conversion, error) { return c.convert(in) })
	return srv, nil
}

// hints say that a tool only answers, out of what it knows itself.
func hints(idempotent bool) *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{
		ReadOnlyHint:    true,
		DestructiveHint: mcp.Ptr(false),
		IdempotentHint:  idempotent,
		OpenWorldHint:   mcp.Ptr(false),
	}
}

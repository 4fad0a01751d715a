package clock

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ferrymcp/ferry/apps/servers/internal/icon"
	"github.com/ferrymcp/ferry/apps/servers/internal/result"
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
	srv := server.New(mcp.Implementation{Name: "time", Title: "Time", Version: version, Icons: icons}, opts.Server)
	hint := fmt.Sprintf(" The local time zone is %s: use it when none is named.", loc)
	server.AddTool(srv, mcp.Tool{
		Name:        "get_current_time",
		Title:       "Current time",
		Description: "Tells the current date and time in a time zone." + hint,
		Annotations: hints(false), Icons: icons, OutputSchema: json.RawMessage(momentSchema),
	}, func(_ context.Context, _ *server.Call, in currentTime) (*mcp.CallToolResult, error) {
		return answer(c.current(in))
	})
	server.AddTool(srv, mcp.Tool{
		Name:  "convert_time",
		Title: "Convert time",
		Description: "Converts a time of today in one time zone to another time zone, " +
			"with the summer time of that day." + hint,
		Annotations: hints(true), Icons: icons, OutputSchema: json.RawMessage(conversionSchema),
	}, func(_ context.Context, _ *server.Call, in convertTime) (*mcp.CallToolResult, error) {
		return answer(c.convert(in))
	})
	return srv, nil
}

// icons is the picture of the server and its tools: a clock.
var icons = icon.Line("M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 7v5l3 3")

// The results, for programs.
const (
	momentSchema = `{"type":"object","properties":{` +
		`"timezone":{"type":"string"},"datetime":{"type":"string","format":"date-time"},` +
		`"day_of_week":{"type":"string"},"is_dst":{"type":"boolean","description":"whether it is summer time"}},` +
		`"required":["timezone","datetime","day_of_week","is_dst"]}`
	conversionSchema = `{"type":"object","properties":{` +
		`"source":` + momentSchema + `,"target":` + momentSchema + `,` +
		`"time_difference":{"type":"string","description":"hours by which the target is ahead, such as +5.5h"},` +
		`"note":{"type":"string","description":"tells of a time that does not exist or comes twice"}},` +
		`"required":["source","target","time_difference"]}`
)

// answer makes a result.
func answer[T any](v T, err error) (*mcp.CallToolResult, error) {
	if err != nil {
		return nil, err
	}
	return result.JSON(v)
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

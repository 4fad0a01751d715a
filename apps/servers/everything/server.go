// Package everything is the server "everything": it has one of each feature of the
// protocol, for those who write clients and want to see how theirs does.
package everything

import (
	"context"
	_ "embed" // the instructions
	"encoding/json"

	"github.com/ferrymcp/ferry/apps/servers/internal/icon"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// version is what the server says of itself; it follows its features.
const version = "1.0.0"

//go:embed docs/instructions.md
var instructions string

// icons is the picture of the server and its tools: a star.
var icons = icon.Line("M12 3l2.8 5.7 6.2.9-4.5 4.4 1.1 6.2-5.6-2.9-5.6 2.9 1.1-6.2L3 9.6l6.2-.9z")

// Options configures the server. Nil is valid.
type Options struct {
	// Environment offers the tool get-env, which shows the environment variables of
	// this process to whoever calls it.
	Environment bool
	// Fetch bounds what the tool gzip-file-as-resource gets from the web.
	Fetch Fetch
	// Server configures what is not special to this server; nil is valid. Its View is
	// replaced by one that shows tools to the clients that can do what they are about.
	Server *server.Options
}

// A Server is the server with what it sends by itself; it must be closed.
type Server struct {
	*server.Server
	beat *beat
}

// New makes the server.
func New(opts *Options) *Server {
	if opts == nil {
		opts = &Options{}
	}
	var o server.Options
	if opts.Server != nil {
		o = *opts.Server
	}
	o.View = view
	if o.Instructions == "" {
		o.Instructions = instructions
	}
	o.Capabilities.Logging = &mcp.LoggingCapability{}
	o.Capabilities.Resources = &mcp.ResourcesCapability{Subscribe: true, ListChanged: true}
	srv := server.New(mcp.Implementation{Name: "everything", Title: "Everything", Version: version, Icons: icons}, &o)
	s := &Server{Server: srv, beat: newBeat(srv)}
	addContent(srv)
	if opts.Environment {
		addEnvironment(srv)
	}
	addAsking(srv, s.beat)
	addPrompts(srv)
	addResources(srv)
	newShelves(srv).addGzip(srv, opts.Fetch.withDefaults())
	s.beat.addToggles(srv)
	return s
}

// Close ends what the server sends by itself, and the server. It may be called again.
func (s *Server) Close() error {
	s.beat.close()
	return s.Server.Close()
}

// What clients can do, as far as tools are shown or hidden for it.
const (
	canRoots = 1 << iota
	canForms
	canPages
	canSample
	abilities
)

// needs are the tools that are about what only some clients can do.
var needs = map[string]int{
	"get-roots-list":              canRoots,
	"trigger-elicitation-request": canForms,
	"trigger-url-elicitation":     canPages,
	"trigger-sampling-request":    canSample,
}

// views are what clients see, by what they can do: one for those who can do the same.
var views = func() (list [abilities]*server.View) {
	for can := range list {
		list[can] = &server.View{Tool: func(t mcp.Tool) bool { return needs[t.Name]&^can == 0 }}
	}
	return list
}()

// view shows a client the tools that it can use.
func view(_ context.Context, c *server.Call) *server.View {
	caps := c.ClientCapabilities()
	can := 0
	for flag, has := range map[int]bool{
		canRoots: caps.Roots != nil, canSample: caps.Sampling != nil,
		canForms: caps.Elicitation.SupportsForm(), canPages: caps.Elicitation.SupportsURL(),
	} {
		if has {
			can |= flag
		}
	}
	return views[can]
}

// hints are those of a tool.
func hints(readOnly, idempotent, openWorld bool) *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{
		ReadOnlyHint: readOnly, DestructiveHint: mcp.Ptr(false),
		IdempotentHint: idempotent, OpenWorldHint: &openWorld,
	}
}

// add adds a tool. Its arguments have the schema of the original, which says more than
// a Go type: numbers that need not be whole, and defaults.
func add[In any](srv *server.Server, t mcp.Tool, properties string, required []string, fn func(ctx context.Context, c *server.Call, in In) (*mcp.CallToolResult, error)) {
	schema := struct {
		Type       string          `json:"type"`
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required,omitempty"`
	}{"object", json.RawMessage("{" + properties + "}"), required}
	raw, err := json.Marshal(schema)
	if err != nil {
		panic("everything: schema of " + t.Name + ": " + err.Error())
	}
	t.InputSchema, t.Icons = raw, icons
	server.AddTool(srv, t, fn)
}

// none are the arguments of a tool without any.
type none struct{}

// texts makes a result of texts.
func texts(list ...string) (*mcp.CallToolResult, error) {
	r := &mcp.CallToolResult{}
	for _, text := range list {
		r.Content = append(r.Content, mcp.Text(text))
	}
	return r, nil
}

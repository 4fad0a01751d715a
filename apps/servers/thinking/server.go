// Package thinking is the server "thinking": a tool into which a model puts its
// thoughts one by one, so that it plans, revises and branches in steps. Nothing is
// computed; the tool says how things stand.
//
// What is kept is the number of thoughts and the names of branches. It belongs to a
// session; in the stateless revisions to the principal of the caller. Stateless
// callers without a principal cannot be told apart: nothing is kept of them, so that
// none hears of another, unless Options.Alone says that there is one client only.
package thinking

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"sync"

	"github.com/ferrymcp/ferry/apps/servers/internal/icon"
	"github.com/ferrymcp/ferry/apps/servers/internal/result"
	"github.com/ferrymcp/ferry/apps/servers/internal/session"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// version is what the server says of itself; it follows its tools.
const version = "1.0.0"

// Options configures the server. Nil is valid.
type Options struct {
	// Log takes the thoughts, for people to read; nil shows them to nobody. It need
	// not be safe for concurrent use.
	Log io.Writer
	// Alone says that the server has one client only, such as the program that
	// started it: stateless calls of nobody in particular are then all of that one.
	Alone bool
	// Server configures what is not special to this server; nil is valid.
	Server *server.Options
}

// description tells a model how to use the tool.
const description = `Takes the steps of a line of thought one at a time, so that a hard problem is worked out in order and can be corrected on the way.

Use it for problems that need several steps, for plans that may change, for analysis whose size is not known at first, and to keep to what matters in a long task.

How to use it:
- Begin with an estimate of how many thoughts are needed (totalThoughts) and change it whenever it turns out to be wrong, up or down.
- Put one step into thought: an observation, a doubt, a decision, a hypothesis or the check of one. Leave out what does not matter to the step.
- To correct an earlier thought, set isRevision and say which in revisesThought.
- To follow another way, name the thought it starts from in branchFromThought and give it a name in branchId.
- When the estimate is used up and more is needed, go on and set needsMoreThoughts.
- State a hypothesis for the solution, check it against the thoughts before, and repeat until it holds.
- Set nextThoughtNeeded to false only when there is an answer that you are content with. Give one final answer.`

const inputSchema = `{
	"type": "object",
	"properties": {
		"thought": {"type": "string", "description": "this step of thinking"},
		"nextThoughtNeeded": {"anyOf": [{"type": "boolean"}, {"type": "string"}], "description": "whether another thought is needed"},
		"thoughtNumber": {"type": "integer", "minimum": 1, "maximum": 9007199254740991, "description": "number of this thought, from 1; it may go beyond totalThoughts"},
		"totalThoughts": {"type": "integer", "minimum": 1, "maximum": 9007199254740991, "description": "how many thoughts are needed, as far as is known now"},
		"isRevision": {"anyOf": [{"type": "boolean"}, {"type": "string"}], "description": "whether this thought corrects an earlier one"},
		"revisesThought": {"type": "integer", "minimum": 1, "maximum": 9007199254740991, "description": "number of the thought that is corrected"},
		"branchFromThought": {"type": "integer", "minimum": 1, "maximum": 9007199254740991, "description": "number of the thought that a branch starts from"},
		"branchId": {"type": "string", "description": "short name of the branch"},
		"needsMoreThoughts": {"anyOf": [{"type": "boolean"}, {"type": "string"}], "description": "whether more thoughts are needed than were estimated"}
	},
	"required": ["thought", "nextThoughtNeeded", "thoughtNumber", "totalThoughts"]
}`

const outputSchema = `{
	"type": "object",
	"properties": {
		"thoughtNumber": {"type": "number"},
		"totalThoughts": {"type": "number"},
		"nextThoughtNeeded": {"type": "boolean"},
		"branches": {"type": "array", "items": {"type": "string"}},
		"thoughtHistoryLength": {"type": "number"}
	},
	"required": ["thoughtNumber", "totalThoughts", "nextThoughtNeeded", "branches", "thoughtHistoryLength"],
	"additionalProperties": false
}`

// progress is what the tool answers.
type progress struct {
	ThoughtNumber        int64    `json:"thoughtNumber"`
	TotalThoughts        int64    `json:"totalThoughts"`
	NextThoughtNeeded    bool     `json:"nextThoughtNeeded"`
	Branches             []string `json:"branches"`
	ThoughtHistoryLength int64    `json:"thoughtHistoryLength"`
}

// thinker is what the tool needs.
type thinker struct {
	alone      bool
	log        *slog.Logger
	sessions   session.Store[history]
	principals histories

	mu  sync.Mutex // guards out
	out io.Writer  // nil shows nothing
}

// New makes the server.
func New(opts *Options) *server.Server {
	if opts == nil {
		opts = &Options{}
	}
	t := &thinker{alone: opts.Alone, out: opts.Log, log: slog.New(slog.DiscardHandler)}
	if opts.Server != nil && opts.Server.Logger != nil {
		t.log = opts.Server.Logger
	}
	picture := icon.Line("M9 18h6M10 22h4M12 2a7 7 0 0 0-4 12.7V16h8v-1.3A7 7 0 0 0 12 2z")
	info := mcp.Implementation{Name: "thinking", Title: "Thinking", Version: version, Icons: picture}
	srv := server.New(info, opts.Server)
	// The arguments are read by hand: what the schema asks for may come as text.
	srv.AddRawTool(mcp.Tool{
		Name:         "sequentialthinking",
		Title:        "Sequential Thinking",
		Description:  description,
		InputSchema:  json.RawMessage(inputSchema),
		OutputSchema: json.RawMessage(outputSchema),
		Icons:        picture,
		Annotations: &mcp.ToolAnnotations{
			ReadOnlyHint: true, DestructiveHint: mcp.Ptr(false), IdempotentHint: true, OpenWorldHint: mcp.Ptr(false),
		},
	}, t.think)
	return srv
}

// think handles a call of the tool.
func (t *thinker) think(ctx context.Context, c *server.Call) (any, error) {
	th, err := readThought(c.Arguments())
	if err != nil {
		return result.Error(err), nil
	}
	state, err := t.history(c).add(th)
	if err != nil {
		return result.Error(err), nil
	}
	t.show(ctx, th)
	return result.JSON(state)
}

// history finds whose thought it is.
func (t *thinker) history(c *server.Call) *history {
	switch sess := c.Session(); {
	case sess != nil:
		return t.sessions.Of(sess)
	case c.Principal != "" || t.alone:
		return t.principals.of(c.Principal)
	}
	return new(history)
}

// show shows a thought to people, one at a time.
func (t *thinker) show(ctx context.Context, th *thought) {
	if t.out == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := show(t.out, th); err != nil {
		t.log.DebugContext(ctx, "thought not shown", slog.Any("error", err))
	}
}

package cli

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
)

// defaultEndpoint is where ferry up serves unless told otherwise, and whom the
// commands that need no other argument ask.
const (
	defaultAddress  = "127.0.0.1:7332"
	defaultEndpoint = "http://" + defaultAddress + "/mcp"
)

// A program is one run of the command line.
type program struct {
	stdin    io.Reader
	stdout   io.Writer
	stderr   io.Writer
	out, err *console
	flags    flags
	answers  answers
	warn     bool    // show what is odd in the configuration
	stored   *tokens // what the user has logged in with; nil: not used yet
	started  bool    // a command's own code has begun: errors are no longer about usage
}

// flags are those that the commands which talk to a server share.
type flags struct {
	config   string
	revision string
	headers  []string
	timeout  time.Duration
	logLevel string
	json     bool
	trace    bool
	verbose  bool
}

// Main runs the command line and returns the exit code. When ctx ends, what is
// in progress is given up. The streams may be files or anything else; only
// files can be terminals.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{
		stdin: stdin, stdout: stdout, stderr: stderr,
		out: newConsole(stdout), err: newConsole(stderr),
	}
	root := p.root()
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetArgs(append([]string{}, args...))
	defer p.close()
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	if !p.started {
		// Flags may not have been read as far as this one.
		p.flags.json = p.flags.json || slices.Contains(args, "--json")
		err = &usageError{err: err, command: cmd.CommandPath()}
	}
	return p.report(ctx, err)
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "ferry",
		Short: "Serve MCP servers at one endpoint, and talk to them from the shell",
		Long: `ferry serves MCP servers at one endpoint, and talks to them from the shell.

TARGET is the URL of a server, a name from the configuration (mcp.json,
.mcp.json or .vscode/mcp.json in this folder, or --config), or, after all other
arguments, -- and the command that starts a server.

Exit codes: 0 there is a result, 1 the tool reported an error, 2 wrong usage,
3 the server cannot be reached, 4 the server answered with an error or not as
the protocol says, 5 a login is needed (ferry login), 130 interrupted.`,
		Example: `  ferry up
  ferry ls
  ferry call http://127.0.0.1:7332/mcp files_read_file path=README.md
  ferry call get_current_time timezone=Europe/Paris -- ferry serve time`,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRun: func(*cobra.Command, []string) {
			p.started = true
		},
	}
	root.AddGroup(
		&cobra.Group{ID: "serve", Title: "Serve:"},
		&cobra.Group{ID: "ask", Title: "Talk to a server:"},
		&cobra.Group{ID: "login", Title: "Log in:"},
	)
	for _, c := range []*cobra.Command{p.upCommand(), p.serveCommand()} {
		c.GroupID = "serve"
		root.AddCommand(c)
	}
	for _, c := range []*cobra.Command{
		p.lsCommand(), p.callCommand(), p.readCommand(), p.promptCommand(),
		p.completeCommand(), p.pingCommand(), p.infoCommand(),
	} {
		c.GroupID = "ask"
		c.Args = cobra.ArbitraryArgs
		p.clientFlags(c)
		root.AddCommand(c)
	}
	for _, c := range []*cobra.Command{p.loginCmd(), p.logoutCmd(), p.authCmd()} {
		c.GroupID = "login"
		root.AddCommand(c)
	}
	root.AddCommand(p.versionCommand())
	return root
}

// clientFlags adds the flags of the commands that talk to a server.
func (p *program) clientFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&p.flags.config, "config", "", "`file` that names servers")
	f.StringVar(&p.flags.revision, "revision", "", "speak this `revision` of the protocol and no other")
	f.StringArrayVarP(&p.flags.headers, "header", "H", nil, "send this `header` (\"Name: value\") over HTTP; may be repeated")
	f.DurationVar(&p.flags.timeout, "timeout", 0, "give up after this `time` (default 1m, longer while there is progress)")
	f.StringVar(&p.flags.logLevel, "log-level", "", "ask the server for log messages from this `level` on")
	f.BoolVar(&p.flags.json, "json", false, "print the result as JSON, errors too")
	f.BoolVar(&p.flags.trace, "trace", false, "show every message both ways on standard error")
	f.BoolVarP(&p.flags.verbose, "verbose", "v", false, "show progress and what the server writes to standard error")
	c.ValidArgsFunction = p.completeTarget
	_ = c.MarkFlagFilename("config", "json")
}

// split takes the arguments of a command apart: those before "--", and the
// command that starts a server after it.
func split(c *cobra.Command, args []string) (rest, command []string) {
	if n := c.ArgsLenAtDash(); n >= 0 {
		return args[:n], args[n:]
	}
	return args, nil
}

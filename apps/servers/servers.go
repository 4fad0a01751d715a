// Package servers is the table of the servers that come with the program. Each
// of them is a package of its own below this one, which others can embed without
// this table.
package servers

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ferrymcp/ferry/server"
)

// All are the servers, in the order in which they are shown.
var All = []Builtin{
	{Name: "everything", Usage: "[stdio|sse|streamableHttp]", Short: "one of each feature of the protocol, to try clients with", Flags: everythingFlags},
	{Name: "fetch", Short: "get pages of the web as Markdown", Flags: fetchFlags, Offer: always},
	{Name: "files", Usage: "[DIR...]", Short: "read, search and change the files of a folder", Flags: filesFlags, Offer: offerFiles},
	{Name: "git", Usage: "[REPOSITORY...]", Short: "look at git repositories, and commit in them", Flags: gitFlags, Offer: offerGit},
	{Name: "memory", Short: "remember a knowledge graph from one conversation to the next", Flags: memoryFlags, Offer: offerMemory},
	{Name: "sqlite", Usage: "[FILE]", Short: "read and change a SQLite database", Flags: sqliteFlags},
	{Name: "thinking", Short: "let a model think in steps that it can revise", Flags: thinkingFlags, Offer: always},
	{Name: "time", Also: "clock", Usage: "[ZONE]", Short: "tell the time, and convert it between time zones", Flags: timeFlags, Offer: always},
}

// A Builtin is a server that comes with the program.
type Builtin struct {
	Name string
	// Also is another name for it; empty for none.
	Also string
	// Usage shows its arguments, Short what it is for.
	Usage, Short string
	// Flags declares its flags, which may include those of other programs that it
	// takes the place of, and returns what makes the server once they are read.
	Flags func(flags *pflag.FlagSet) Open
	// Offer returns the arguments with which it serves a folder when nobody asked for
	// it by name, and false if it has nothing to do there. Nil is never.
	Offer func(dir string) (args []string, ok bool)
}

// Open makes a server, which outlives ctx. Its errors are about what the user asked
// for.
type Open func(ctx context.Context, s *Setup, args []string) (*Opened, error)

// A Setup is what a server is made from.
type Setup struct {
	// Dir is the folder that relative paths are in; the working directory if empty.
	Dir string
	// Env is asked for environment variables; os.Getenv if nil.
	Env func(name string) string
	// Launched tells that the one client there will be has started this program: it
	// may say where the server works.
	Launched bool
	// Behind tells that its clients are those of a gateway.
	Behind bool
	// Stderr takes what the server shows to people; nil shows nothing.
	Stderr io.Writer
	// Server configures the server; nil is valid.
	Server *server.Options
}

// Opened is a server that is ready to be served. It must be closed.
type Opened struct {
	*server.Server
	io.Closer
	// Address is where it is served over HTTP, if its arguments say that it is.
	Address string
	// Where tells people where it keeps what it is told; empty if nowhere.
	Where string
}

// Close gives back what the server holds.
func (o *Opened) Close() error { return o.Closer.Close() }

// Names are the names of all servers.
func Names() []string {
	names := make([]string, len(All))
	for i, b := range All {
		names[i] = b.Name
	}
	return names
}

// Find returns the server of a name.
func Find(name string) (*Builtin, bool) {
	for i := range All {
		if b := &All[i]; b.Name == name || b.Also == name && name != "" {
			return b, true
		}
	}
	return nil, false
}

// Open reads arguments and flags, and makes the server.
func (b *Builtin) Open(ctx context.Context, s *Setup, args []string) (*Opened, error) {
	flags := pflag.NewFlagSet(b.Name, pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	open := b.Flags(flags)
	if err := flags.Parse(args); err != nil {
		return nil, fmt.Errorf("server %s: %w: it takes %s", b.Name, err, b.takes(flags))
	}
	return open(ctx, s, flags.Args())
}

// takes lists arguments and flags.
func (b *Builtin) takes(flags *pflag.FlagSet) string {
	list := []string{b.Usage}
	if b.Usage == "" {
		list[0] = "no arguments"
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			list = append(list, "--"+f.Name)
		}
	})
	return strings.Join(list, ", ")
}

// ReadOnlyFlag is the flag of servers that can leave out what changes something.
const ReadOnlyFlag = "read-only"

// Has reports whether the server has a flag.
func (b *Builtin) Has(flag string) bool {
	flags := pflag.NewFlagSet(b.Name, pflag.ContinueOnError)
	b.Flags(flags)
	return flags.Lookup(flag) != nil
}

// readOnly declares the flag of that name.
func readOnly(flags *pflag.FlagSet, p *bool) {
	flags.BoolVar(p, ReadOnlyFlag, false, "offer no tools that change something")
}

// always offers a server everywhere, without arguments.
func always(string) ([]string, bool) { return nil, true }

// env asks for an environment variable.
func (s *Setup) env(name string) string {
	if s.Env == nil {
		return os.Getenv(name)
	}
	return s.Env(name)
}

// path makes a path absolute.
func (s *Setup) path(name string) (string, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(s.Dir, name)
	}
	return filepath.Abs(name)
}

// atMost refuses arguments that nobody reads.
func atMost(n int, args []string) error {
	if len(args) > n {
		return fmt.Errorf("unexpected argument %q", args[n])
	}
	return nil
}

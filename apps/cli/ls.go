package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
)

// A kind is something that servers list.
type kind struct {
	name   string // on the command line
	method string
	member string // of the result
	has    func(mcp.ServerCapabilities) bool
	show   func(*listing, []json.RawMessage) error
}

// kinds are in the order in which they are shown.
var kinds = []kind{
	{
		"tools", mcp.MethodToolsList, "tools",
		func(c mcp.ServerCapabilities) bool { return c.Tools != nil }, (*listing).tools,
	},
	{
		"prompts", mcp.MethodPromptsList, "prompts",
		func(c mcp.ServerCapabilities) bool { return c.Prompts != nil }, (*listing).prompts,
	},
	{
		"resources", mcp.MethodResourcesList, "resources",
		func(c mcp.ServerCapabilities) bool { return c.Resources != nil }, (*listing).resources,
	},
	{
		"templates", mcp.MethodResourcesTemplatesList, "resourceTemplates",
		func(c mcp.ServerCapabilities) bool { return c.Resources != nil }, (*listing).templates,
	},
}

func kindNames() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

func (p *program) lsCommand() *cobra.Command {
	var long bool
	c := &cobra.Command{
		Use:   "ls [TARGET] [tools|prompts|resources|templates]",
		Short: "List what a server has",
		Long: `List what a server has. Without a TARGET, ask the one at ` + defaultEndpoint + `.

With --long, each tool begins with four letters: r it only reads or w it may
change something, d it may destroy, i doing it again changes nothing more, o it
reaches beyond the server. That is what the server says of itself.`,
	}
	c.Flags().BoolVarP(&long, "long", "l", false, "show arguments and everything else")
	c.RunE = func(c *cobra.Command, args []string) error {
		optional := len(args) == 0
		if c.ArgsLenAtDash() < 0 && len(args) == 1 && slices.Contains(kindNames(), args[0]) {
			args, optional = append([]string{defaultEndpoint}, args...), true
		}
		return p.ask(c, args, optional, func(ctx context.Context, s *session, rest []string) error {
			return s.ls(ctx, rest, long)
		})
	}
	return c
}

func (s *session) ls(ctx context.Context, args []string, long bool) error {
	var chosen []kind
	switch len(args) {
	case 0:
		for _, k := range kinds {
			if k.has(s.ServerCapabilities()) {
				chosen = append(chosen, k)
			}
		}
	case 1:
		i := slices.Index(kindNames(), args[0])
		if i < 0 {
			unknown := usagef("%q is none of tools, prompts, resources, templates", args[0])
			unknown.hint = suggest("lists", args[0], kindNames())
			return unknown
		}
		chosen = kinds[i : i+1]
	default:
		return usagef("unexpected argument %q", args[1])
	}
	lists := map[string][]json.RawMessage{}
	for _, k := range chosen {
		list, err := s.list(ctx, k)
		if err != nil {
			return err
		}
		lists[k.member] = list
	}
	if s.program.flags.json {
		return s.program.printValue(lists)
	}
	l := &listing{out: s.program.out, long: long}
	for i, k := range chosen {
		if len(chosen) > 1 {
			if i > 0 {
				l.out.line(plain, "")
			}
			l.out.linef(bold, "%s (%d)", k.name, len(lists[k.member]))
			l.indent = "  "
		} else if len(lists[k.member]) == 0 {
			s.program.err.linef(dim, "no %s", k.name)
		}
		if err := k.show(l, lists[k.member]); err != nil {
			return &client.ProtocolError{Method: k.method, Problem: err.Error()}
		}
	}
	return nil
}

// maxPages bounds how often a server is asked for one list.
const maxPages = 10_000

// list gets all pages of a list, its elements as they came; none from a server
// that says it has no such thing.
func (s *session) list(ctx context.Context, k kind) ([]json.RawMessage, error) {
	all := []json.RawMessage{}
	if !k.has(s.ServerCapabilities()) {
		return all, nil
	}
	seen := map[string]bool{}
	params := new(mcp.PageParams)
	for range maxPages {
		var page map[string]json.RawMessage
		if _, err := s.result(ctx, k.method, params, &page, nil); err != nil {
			return nil, err
		}
		var elements []json.RawMessage
		var cursor *string
		err := json.Unmarshal(page[k.member], &elements)
		if raw, more := page["nextCursor"]; err == nil && more {
			err = json.Unmarshal(raw, &cursor)
		}
		if err == nil && elements == nil {
			err = errors.New("not a list")
		}
		if err != nil {
			return nil, &client.ProtocolError{Method: k.method, Problem: fmt.Sprintf("%s: %v", k.member, err)}
		}
		all = append(all, elements...)
		if cursor == nil || *cursor == "" && !s.Stateless() { // servers with sessions that write an empty one mean the end
			return all, nil
		}
		if seen[*cursor] {
			return nil, &client.ProtocolError{Method: k.method, Problem: "the same cursor came twice"}
		}
		seen[*cursor] = true
		params = &mcp.PageParams{Cursor: cursor}
	}
	return nil, &client.ProtocolError{Method: k.method, Problem: "too many pages"}
}

package cli

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrymcp/ferry/mcp"
)

func (p *program) infoCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "info [TARGET]",
		Short: "Tell what a server is and can do",
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		return p.ask(c, args, true, func(_ context.Context, s *session, rest []string) error {
			if len(rest) > 0 {
				return usagef("unexpected argument %q", rest[0])
			}
			return s.info()
		})
	}
	return c
}

// An infoReport is what info --json prints, under the names of the protocol.
type infoReport struct {
	Revision     string                 `json:"protocolVersion"`
	Server       mcp.Implementation     `json:"serverInfo"`
	Capabilities mcp.ServerCapabilities `json:"capabilities"`
	Instructions string                 `json:"instructions,omitempty"`
}

func (s *session) info() error {
	p := s.program
	r := &infoReport{s.Revision(), s.ServerInfo(), s.ServerCapabilities(), s.Instructions()}
	if p.flags.json {
		return p.printValue(r)
	}
	capabilities, err := capabilityNames(r.Capabilities)
	if err != nil {
		return err
	}
	rows := [][2]string{
		{"target", s.target.name},
		{"server", strings.TrimSpace(r.Server.Name + " " + r.Server.Version)},
		{"title", r.Server.Title},
		{"about", firstLine(r.Server.Description)},
		{"website", r.Server.WebsiteURL},
		{"revision", r.Revision},
		{"carrier", s.target.carrier},
		{"can", capabilities},
	}
	for _, row := range rows {
		if row[1] != "" {
			p.out.write([]byte(p.out.paint(dim, pad(row[0], 10)) + p.out.inline(row[1]) + "\n"))
		}
	}
	if r.Instructions != "" {
		p.out.line(plain, "")
		p.out.text(strings.TrimRight(r.Instructions, "\n") + "\n")
	}
	return nil
}

// capabilityNames lists what a server can do, with the details in brackets:
// tools (listChanged), prompts.
func capabilityNames(c mcp.ServerCapabilities) (string, error) {
	raw, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	var all map[string]map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return "", err
	}
	var names []string
	for name, details := range all {
		var set []string
		for detail, value := range details {
			if string(value) != "false" {
				set = append(set, detail)
			}
		}
		if len(set) > 0 {
			slices.Sort(set)
			name += " (" + strings.Join(set, ", ") + ")"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", "), nil
}

package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/ferrymcp/ferry/apps/config"
	"github.com/ferrymcp/ferry/apps/gateway"
	"github.com/ferrymcp/ferry/host"
)

// banner says what is served and how to connect.
func (p *program) banner(e *endpoint, gw *gateway.Gateway, cfg *config.Config) {
	out := p.err
	url := e.url()
	out.write([]byte("ferry serves " + out.paint(bold, url) + "\n"))
	if cfg.Path != "" {
		out.line(dim, "with the servers of "+cfg.Path)
	}
	out.line(plain, "")
	list := gw.Status()
	width := 0
	for _, s := range list {
		width = max(width, utf8.RuneCountInString(s.Name))
	}
	for _, s := range list {
		line := p.statusLine(s, width)
		if where := gw.Where(s.Name); where != "" && s.State == host.Ready {
			line += ", in " + where
		}
		out.line(stateStyle(s.State), "  "+line)
	}
	for _, w := range gw.Host().Catalog().Warnings {
		out.line(yellow, "  "+w)
	}
	if e.auth != nil {
		e.auth.show(out)
	}
	if !e.loopback() && e.auth == nil {
		out.line(plain, "")
		out.line(red, "WARNING: other machines can connect, and there is no login: whoever reaches "+
			e.listener.Addr().String()+" can use all of these tools.")
	}
	out.line(plain, "")
	out.line(plain, "Connect a client:")
	for _, way := range ways(url) {
		out.write([]byte("  " + out.paint(dim, pad(way[0], 12)) + way[1] + "\n"))
	}
	out.line(plain, "")
	try := "ferry ls"
	if url != defaultEndpoint {
		try += " " + url
	}
	out.linef(plain, "Try it with %q in another terminal. Ctrl-C stops.", try)
}

// ways are lines to copy that connect clients to a URL.
func ways(url string) [][2]string {
	code := fmt.Sprintf(`{"name":"ferry","type":"http","url":%q}`, url)
	if runtime.GOOS == "windows" {
		code = `"` + strings.ReplaceAll(code, `"`, `\"`) + `"`
	} else {
		code = "'" + code + "'"
	}
	return [][2]string{
		{"Claude Code", "claude mcp add --transport http ferry " + url},
		{"VS Code", "code --add-mcp " + code},
		{"Cursor", fmt.Sprintf(`{"mcpServers":{"ferry":{"url":%q}}}   in .cursor/mcp.json`, url)},
	}
}

func stateStyle(s host.State) style {
	switch s {
	case host.Ready:
		return green
	case host.Connecting:
		return yellow
	default:
		return red
	}
}

// statusLine says in words how a server is doing.
func (p *program) statusLine(s host.UpstreamStatus, width int) string {
	line := pad(s.Name, width) + ": "
	if width > 0 {
		line = pad(s.Name, width) + "  "
	}
	if needed := loginNeeded(s.Err); needed != nil && s.State != host.Ready {
		return line + fmt.Sprintf("needs a login: run %q", p.loginCommand(s.Name, needed))
	}
	switch s.State {
	case host.Ready:
		return line + "ready, " + counts(s)
	case host.Connecting:
		if s.Err != nil {
			return line + "connecting again after: " + problem(s.Err)
		}
		return line + "still connecting; its tools join when it is there"
	case host.Failed:
		return line + "left out for now: " + problem(s.Err)
	default:
		return line + string(s.State)
	}
}

// problem says on one line why a server is not there.
func problem(err error) string {
	if err == nil {
		return "not known why"
	}
	return strings.Join(strings.Fields(explain(err)), " ")
}

// counts says what a server has.
func counts(s host.UpstreamStatus) string {
	var parts []string
	for _, c := range []struct {
		n    int
		what string
	}{{s.Tools, "tool"}, {s.Prompts, "prompt"}, {s.Resources, "resource"}, {s.Templates, "resource template"}} {
		switch {
		case c.n == 1:
			parts = append(parts, "1 "+c.what)
		case c.n > 1:
			parts = append(parts, fmt.Sprintf("%d %ss", c.n, c.what))
		}
	}
	if len(parts) == 0 {
		return "but it offers nothing"
	}
	return strings.Join(parts, ", ")
}

// A healthReport is what /healthz answers. It is there as long as the program
// serves, whatever becomes of single servers.
type healthReport struct {
	Status  string         `json:"status"`
	Version string         `json:"version"`
	Servers []serverHealth `json:"servers"`
}

type serverHealth struct {
	Name      string     `json:"name"`
	State     host.State `json:"state"`
	Problem   string     `json:"problem,omitempty"`
	Revision  string     `json:"revision,omitempty"`
	Tools     int        `json:"tools"`
	Prompts   int        `json:"prompts"`
	Resources int        `json:"resources"`
	Templates int        `json:"resourceTemplates"`
}

func health(gw *gateway.Gateway) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		report := healthReport{Status: "ok", Version: version(), Servers: []serverHealth{}}
		for _, s := range gw.Status() {
			h := serverHealth{
				Name: s.Name, State: s.State, Revision: s.Revision,
				Tools: s.Tools, Prompts: s.Prompts, Resources: s.Resources, Templates: s.Templates,
			}
			if s.Err != nil && s.State != host.Ready {
				h.Problem = problem(s.Err)
			}
			report.Servers = append(report.Servers, h)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_ = json.NewEncoder(w).Encode(report) // a client who is gone needs no answer
	}
}

package files

import (
	"context"
	"fmt"
	"strings"

	"github.com/ferrymcp/ferry/apps/servers/files/folder"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// findFiles holds the arguments of search_files.
type findFiles struct {
	Path      string   `json:"path"`
	Pattern   string   `json:"pattern"`
	Exclude   []string `json:"excludePatterns,omitzero"`
	Gitignore bool     `json:"respectGitignore,omitzero"`
}

// findText holds the arguments of search_text.
type findText struct {
	Path       string   `json:"path"`
	Pattern    string   `json:"pattern"`
	IgnoreCase bool     `json:"ignoreCase,omitzero"`
	Include    string   `json:"include,omitzero"`
	Exclude    []string `json:"excludePatterns,omitzero"`
	Gitignore  bool     `json:"respectGitignore,omitzero"`
	MaxResults int      `json:"maxResults,omitzero"`
}

// defaultMatches is how many lines search_text returns when it is not told.
const defaultMatches = 200

// addSearching adds the tools that search.
func (t *tools) addSearching(srv *server.Server) {
	add(t, srv, mcp.Tool{
		Name: "search_files", Title: "Search Files", Annotations: reading(),
		Description: "Finds files and folders by their path below a folder, and returns their full paths. *.txt finds text files in the folder itself, " +
			"**/*.txt in it and all below. Folders that are links are not entered.",
	}, findNames)
	add(t, srv, mcp.Tool{
		Name: "search_text", Title: "Search in Files", Annotations: reading(),
		Description: "Finds lines that match a regular expression in the text files of a folder and all below it, " +
			"in the form path:line: text. Files that are not text are passed over.",
	}, findLines)
}

func findNames(ctx context.Context, r request[findFiles]) (*mcp.CallToolResult, error) {
	f, rel, err := r.At(r.in.Path)
	if err != nil {
		return nil, err
	}
	// Links that lead out or nowhere are not shown: nothing can be done with them.
	inside := func(name string) bool {
		_, err := r.Stat(f.Full(name))
		return err == nil
	}
	found, err := f.Find(ctx, rel, r.in.Pattern, walk(ctx, r.call, r.in.Exclude, r.in.Gitignore), inside)
	if err != nil {
		return nil, err
	}
	if len(found.Paths) == 0 {
		return text("No matches found", string(found.Cut))
	}
	base := f.Full(".")
	if !strings.HasSuffix(base, separator) {
		base += separator
	}
	var b strings.Builder
	for i, name := range found.Paths {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(folder.Quote(base + native(name)))
	}
	return text(b.String(), rest(found.More, "narrow the pattern or choose a folder further down"), string(found.Cut))
}

func findLines(ctx context.Context, r request[findText]) (*mcp.CallToolResult, error) {
	f, rel, err := r.At(r.in.Path)
	if err != nil {
		return nil, err
	}
	if r.in.MaxResults <= 0 {
		r.in.MaxResults = defaultMatches
	}
	m, err := f.Search(ctx, folder.Query{
		Path: rel, Expression: r.in.Pattern, IgnoreCase: r.in.IgnoreCase, Include: r.in.Include,
		Walk: walk(ctx, r.call, r.in.Exclude, r.in.Gitignore), Results: r.in.MaxResults,
	})
	if err != nil {
		return nil, err
	}
	lines := make([]string, len(m.List))
	for i, match := range m.List {
		lines[i] = fmt.Sprintf("%s:%d: %s", folder.Quote(match.Path), match.Line, match.Text)
	}
	content := strings.Join(lines, "\n")
	if len(lines) == 0 {
		content = "No matches found"
	}
	var notes []string
	if m.Full {
		notes = append(notes, fmt.Sprintf("… there are more: only the first %d are shown. Narrow the expression or the folder.", len(lines)))
	}
	if m.Skipped > 0 {
		notes = append(notes, fmt.Sprintf("%d files were passed over: they are not text, too large or cannot be read.", m.Skipped))
	}
	return text(content, append(notes, string(m.Cut))...)
}

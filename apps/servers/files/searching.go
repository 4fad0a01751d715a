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
	Path    string   `json:"path" jsonschema:"folder to search, relative to the allowed folder or absolute inside it"`
	Pattern string   `json:"pattern" jsonschema:"pattern for the path below that folder: * any name, ** any folders, {a,b} a or b; so **/*.go is every Go file"`
	Exclude []string `json:"excludePatterns,omitzero" jsonschema:"patterns for what to leave out, such as node_modules or **/*.log"`
}

// findText holds the arguments of search_text.
type findText struct {
	Path       string   `json:"path" jsonschema:"folder or file to search, relative to the allowed folder or absolute inside it"`
	Pattern    string   `json:"pattern" jsonschema:"regular expression in the syntax of RE2, matched line by line"`
	IgnoreCase bool     `json:"ignoreCase,omitzero" jsonschema:"take capitals and small letters as the same"`
	Include    string   `json:"include,omitzero" jsonschema:"search only files whose name or path matches this pattern, such as *.go"`
	Exclude    []string `json:"excludePatterns,omitzero" jsonschema:"patterns for what to leave out, such as node_modules or **/*.log"`
	MaxResults int      `json:"maxResults,omitzero" jsonschema:"how many lines to return at most; 200 if not given"`
}

// defaultMatches is how many lines search_text returns when it is not told.
const defaultMatches = 200

// addSearching adds the tools that search.
func (t *tools) addSearching(srv *server.Server) {
	add(srv, mcp.Tool{
		Name:  "search_files",
		Title: "Search for files",
		Description: "Finds files and folders by their path below a folder. *.txt finds text files in the folder itself, " +
			"**/*.txt in it and all below. Links are not followed. Paths are relative to the allowed folder; folders end with a slash.",
		Annotations: reading(),
	}, t.findFiles)
	add(srv, mcp.Tool{
		Name:  "search_text",
		Title: "Search in files",
		Description: "Finds lines that match a regular expression in the text files of a folder and all below it, " +
			"in the form path:line: text. Files that are not text are passed over.",
		Annotations: reading(),
	}, t.findText)
}

func (t *tools) findFiles(ctx context.Context, in findFiles) (*mcp.CallToolResult, error) {
	found, err := t.folder.Find(ctx, in.Path, in.Pattern, in.Exclude)
	if err != nil {
		return nil, err
	}
	if len(found.Paths) == 0 {
		return text("No matches found", string(found.Cut))
	}
	for i, name := range found.Paths {
		found.Paths[i] = folder.Quote(name)
	}
	return text(strings.Join(found.Paths, "\n"), rest(found.More, "narrow the pattern or choose a folder further down"), string(found.Cut))
}

func (t *tools) findText(ctx context.Context, in findText) (*mcp.CallToolResult, error) {
	if in.MaxResults <= 0 {
		in.MaxResults = defaultMatches
	}
	m, err := t.folder.Search(ctx, folder.Query{
		Path: in.Path, Expression: in.Pattern, IgnoreCase: in.IgnoreCase,
		Include: in.Include, Exclude: in.Exclude, Results: in.MaxResults,
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

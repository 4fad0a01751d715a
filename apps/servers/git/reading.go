package git

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ferrymcp/ferry/apps/servers/git/repo"
	"github.com/ferrymcp/ferry/apps/servers/internal/quote"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// status holds the arguments of git_status.
type status struct {
	where
	window
}

// changes hold the arguments of git_diff_unstaged and git_diff_staged.
type changes struct {
	where
	Context *int   `json:"context_lines" jsonschema:"description=how many lines to show around a change,default=3"`
	File    string `json:"path,omitzero" jsonschema:"show only this file or folder"`
	window
}

// diff holds the arguments of git_diff.
type diff struct {
	where
	Target  string `json:"target" jsonschema:"branch, tag or commit to compare the files with, or two of them with .. or ... between, such as main...topic"`
	Context *int   `json:"context_lines" jsonschema:"description=how many lines to show around a change,default=3"`
	File    string `json:"path,omitzero" jsonschema:"show only this file or folder"`
	window
}

// log holds the arguments of git_log.
type log struct {
	where
	Max   *int    `json:"max_count" jsonschema:"description=how many commits to show at most,default=10"`
	Start *string `json:"start_timestamp" jsonschema:"show commits from this time on: 2026-01-15, 2026-01-15T14:30:25, 2 weeks ago, yesterday"`
	End   *string `json:"end_timestamp" jsonschema:"show commits until this time, written like start_timestamp"`
	Skip  int     `json:"skip,omitzero" jsonschema:"description=leave out so many commits, which were shown before,minimum=0"`
	File  string  `json:"path,omitzero" jsonschema:"show only commits that change this file or folder"`
}

// show holds the arguments of git_show.
type show struct {
	where
	Revision string `json:"revision" jsonschema:"commit, branch or tag"`
	window
}

// branch holds the arguments of git_branch.
type branch struct {
	where
	Type    string  `json:"branch_type" jsonschema:"local, remote or all"`
	With    *string `json:"contains" jsonschema:"show only branches with this commit; leave it out if it does not matter"`
	Without *string `json:"not_contains" jsonschema:"show only branches without this commit; leave it out if it does not matter"`
}

// or returns what is given, or else a default.
func or[T any](given *T, otherwise T) T {
	if given == nil {
		return otherwise
	}
	return *given
}

// defaultContext is how many lines are shown around a change, and defaultCommits how
// many commits, if nobody says.
const (
	defaultContext = 3
	defaultCommits = 10
)

// addReading adds the tools that change nothing.
func (t *tools) addReading(srv *server.Server) {
	add(t, srv, mcp.Tool{
		Name: "git_status", Title: "Git status", Annotations: reading(),
		Description: "Tells which branch is checked out, what is staged, and which files have changed or are new.",
	}, func(ctx context.Context, r *repo.Repo, in status) (*mcp.CallToolResult, error) {
		page, err := r.Status(ctx, in.window.window())
		if err != nil {
			return nil, err
		}
		return paged("Repository status:\n", page)
	})
	add(t, srv, mcp.Tool{
		Name: "git_diff_unstaged", Title: "Unstaged changes", Annotations: reading(),
		Description: "Shows what has changed in the files and is not staged, as a patch.",
	}, func(ctx context.Context, r *repo.Repo, in changes) (*mcp.CallToolResult, error) {
		return compare(ctx, r, "Unstaged changes:\n", repo.Diff{Context: or(in.Context, defaultContext), Path: in.File, Window: in.window.window()})
	})
	add(t, srv, mcp.Tool{
		Name: "git_diff_staged", Title: "Staged changes", Annotations: reading(),
		Description: "Shows what is staged for the next commit, as a patch.",
	}, func(ctx context.Context, r *repo.Repo, in changes) (*mcp.CallToolResult, error) {
		return compare(ctx, r, "Staged changes:\n", repo.Diff{Staged: true, Context: or(in.Context, defaultContext), Path: in.File, Window: in.window.window()})
	})
	add(t, srv, mcp.Tool{
		Name: "git_diff", Title: "Differences", Annotations: reading(),
		Description: "Compares the files with a branch, tag or commit, or two of these with each other, and shows the differences as a patch.",
	}, func(ctx context.Context, r *repo.Repo, in diff) (*mcp.CallToolResult, error) {
		return compare(ctx, r, "Diff with "+in.Target+":\n", repo.Diff{Target: in.Target, Context: or(in.Context, defaultContext), Path: in.File, Window: in.window.window()})
	})
	add(t, srv, mcp.Tool{
		Name: "git_log", Title: "History", Annotations: reading(), OutputSchema: logSchema,
		Description: "Lists the commits of what is checked out, the newest first.",
	}, history)
	add(t, srv, mcp.Tool{
		Name: "git_show", Title: "Show commit", Annotations: reading(),
		Description: "Shows a commit and what it changed.",
	}, func(ctx context.Context, r *repo.Repo, in show) (*mcp.CallToolResult, error) {
		commit, page, err := r.Show(ctx, in.Revision, in.window.window())
		if err != nil {
			return nil, err
		}
		if page.Text != "" && page.Next == 0 {
			page.Text += "\n"
		}
		return paged(quoted(&commit), page)
	})
	add(t, srv, mcp.Tool{
		Name: "git_branch", Title: "Branches", Annotations: reading(), OutputSchema: branchSchema,
		Description: "Lists branches; a star marks the one that is checked out.",
	}, branches)
}

func compare(ctx context.Context, r *repo.Repo, heading string, d repo.Diff) (*mcp.CallToolResult, error) {
	page, err := r.Diff(ctx, d)
	if err != nil {
		return nil, err
	}
	return paged(heading, page)
}

var logSchema = json.RawMessage(`{"type":"object","properties":{` +
	`"commits":{"type":"array","items":{"type":"object","properties":{` +
	`"hash":{"type":"string"},"author":{"type":"string"},"email":{"type":"string"},` +
	`"date":{"type":"string","format":"date-time"},"message":{"type":"string"}},` +
	`"required":["hash","author","email","date","message"]}},` +
	`"next_skip":{"type":"integer","description":"the skip that returns the commits that follow; absent at the end"}},"required":["commits"]}`)

type loggedCommit struct {
	Hash    string    `json:"hash"`
	Author  string    `json:"author"`
	Email   string    `json:"email"`
	Date    time.Time `json:"date"`
	Message string    `json:"message"`
}

// history lists commits. When dates are asked for, the text has another form: as it
// is elsewhere.
func history(ctx context.Context, r *repo.Repo, in log) (*mcp.CallToolResult, error) {
	start, end := or(in.Start, ""), or(in.End, "")
	list, more, err := r.Commits(ctx, repo.Log{Max: or(in.Max, defaultCommits), Skip: in.Skip, Since: start, Until: end, Path: in.File})
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(list))
	commits := make([]loggedCommit, len(list))
	for i := range list {
		c := &list[i]
		commits[i] = loggedCommit{c.Hash, c.Author, c.Email, c.Date, c.Message}
		if start == "" && end == "" {
			texts[i] = quoted(c)
			continue
		}
		texts[i] = fmt.Sprintf("Commit: %s\nAuthor: %s\nDate: %s\nMessage: %s\n", c.Hash, c.Author, c.Shown, c.Subject)
	}
	structured := struct {
		Commits []loggedCommit `json:"commits"`
		Next    int            `json:"next_skip,omitzero"`
	}{Commits: commits}
	var note string
	if more {
		structured.Next = in.Skip + len(list)
		note = fmt.Sprintf("… there are more commits: call again with skip=%d", structured.Next)
	}
	return result("Commit history:\n"+strings.Join(texts, "\n"), structured, note)
}

// quoted writes a commit with its texts in quotes.
func quoted(c *repo.Commit) string {
	return fmt.Sprintf("Commit: '%s'\nAuthor: <git.Actor \"%s <%s>\">\nDate: %s\nMessage: %s\n",
		c.Hash, c.Author, c.Email, c.Date.Format("2006-01-02 15:04:05-07:00"), quote.Text(c.Message))
}

var branchSchema = json.RawMessage(`{"type":"object","properties":{` +
	`"branches":{"type":"array","items":{"type":"string"}},` +
	`"current":{"type":"string","description":"the branch that is checked out; absent when it is not a branch"}},"required":["branches"]}`)

func branches(ctx context.Context, r *repo.Repo, in branch) (*mcp.CallToolResult, error) {
	b := repo.Branches{Contains: or(in.With, ""), Without: or(in.Without, "")}
	switch in.Type {
	case "local":
	case "remote":
		b.Remote = true
	case "all":
		b.All = true
	default:
		return nil, fmt.Errorf("Invalid branch type: %s\nIt is local, remote or all", in.Type) //nolint:staticcheck // as it is elsewhere
	}
	page, err := r.Branches(ctx, b)
	if err != nil {
		return nil, err
	}
	current, err := r.Current(ctx)
	if err != nil {
		return nil, err
	}
	structured := struct {
		Branches []string `json:"branches"`
		Current  string   `json:"current,omitzero"`
	}{Branches: []string{}, Current: current}
	for line := range strings.Lines(page.Text) {
		if name := strings.TrimSpace(line[min(2, len(line)):]); name != "" && !strings.HasPrefix(name, "(") {
			name, _, _ = strings.Cut(name, " -> ")
			structured.Branches = append(structured.Branches, name)
		}
	}
	var note string
	if page.Next > 0 {
		note = "… there are more branches: ask for those that contain a commit"
	}
	return result(page.Text, structured, note)
}

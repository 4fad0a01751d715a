package git

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ferrymcp/ferry/apps/servers/git/repo"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// commit holds the arguments of git_commit.
type commit struct {
	where
	Message string `json:"message" jsonschema:"what the commit does: a short line, then, after an empty one, the reasons"`
}

// files hold the arguments of git_add.
type files struct {
	where
	Files []string `json:"files" jsonschema:"paths relative to the repository; a dot is everything that has changed"`
}

// newBranch holds the arguments of git_create_branch.
type newBranch struct {
	where
	Name string  `json:"branch_name" jsonschema:"name of the new branch"`
	Base *string `json:"base_branch" jsonschema:"branch, tag or commit that it begins at; what is checked out if not given"`
}

// checkout holds the arguments of git_checkout.
type checkout struct {
	where
	Name string `json:"branch_name" jsonschema:"branch to switch to"`
}

var commitSchema = json.RawMessage(`{"type":"object","properties":{"hash":{"type":"string"}},"required":["hash"]}`)

// addWriting adds the tools that change something.
func (t *tools) addWriting(srv *server.Server) {
	add(t, srv, mcp.Tool{
		Name: "git_add", Title: "Stage files", Annotations: writing(true, false),
		Description: "Stages files for the next commit, as they are now.",
	}, func(ctx context.Context, r *repo.Repo, in files) (*mcp.CallToolResult, error) {
		if err := r.Add(ctx, in.Files); err != nil {
			return nil, err
		}
		return said("Files staged successfully")
	})
	add(t, srv, mcp.Tool{
		Name: "git_reset", Title: "Unstage all", Annotations: writing(true, true),
		Description: "Takes everything that is staged back out of the next commit. The files stay as they are.",
	}, func(ctx context.Context, r *repo.Repo, _ where) (*mcp.CallToolResult, error) {
		if err := r.Reset(ctx); err != nil {
			return nil, err
		}
		return said("All staged changes reset")
	})
	add(t, srv, mcp.Tool{
		Name: "git_commit", Title: "Commit", Annotations: writing(false, false), OutputSchema: commitSchema,
		Description: "Records what is staged. Hooks of the repository do not run.",
	}, func(ctx context.Context, r *repo.Repo, in commit) (*mcp.CallToolResult, error) {
		hash, err := r.Commit(ctx, in.Message)
		if err != nil {
			return nil, err
		}
		return result("Changes committed successfully with hash "+hash, map[string]string{"hash": hash})
	})
	add(t, srv, mcp.Tool{
		Name: "git_create_branch", Title: "Create branch", Annotations: writing(false, false),
		Description: "Makes a branch, and does not switch to it.",
	}, func(ctx context.Context, r *repo.Repo, in newBranch) (*mcp.CallToolResult, error) {
		from, err := r.CreateBranch(ctx, in.Name, or(in.Base, ""))
		if err != nil {
			return nil, err
		}
		return said(fmt.Sprintf("Created branch '%s' from '%s'", in.Name, from))
	})
	add(t, srv, mcp.Tool{
		Name: "git_checkout", Title: "Switch branch", Annotations: writing(false, false),
		Description: "Switches to a branch. Changes that this would overwrite are kept, and it is refused.",
	}, func(ctx context.Context, r *repo.Repo, in checkout) (*mcp.CallToolResult, error) {
		unfiltered, err := r.Checkout(ctx, in.Name)
		if err != nil {
			return nil, err
		}
		var note string
		if unfiltered {
			note = "Files that are stored through filters, such as those of LFS, are as they are stored: filters are programs, which are not run here."
		}
		return said(fmt.Sprintf("Switched to branch '%s'", in.Name), note)
	})
}

// said is the result of a tool that has done what it was asked.
func said(text string, notes ...string) (*mcp.CallToolResult, error) {
	return result(text, map[string]string{"content": text}, notes...)
}

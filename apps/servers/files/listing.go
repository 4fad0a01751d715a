package files

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/ferrymcp/ferry/apps/servers/files/folder"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// tree holds the arguments of directory_tree.
type tree struct {
	Path    string   `json:"path" jsonschema:"path relative to the allowed folder, or absolute inside it; a dot stands for the folder itself"`
	Exclude []string `json:"excludePatterns,omitzero" jsonschema:"patterns for what to leave out, such as node_modules or **/*.log"`
}

// addListing adds the tools that show what there is.
func (t *tools) addListing(srv *server.Server) {
	add(srv, mcp.Tool{
		Name:        "list_directory",
		Title:       "List folder",
		Description: "Lists what is in a folder, each line with [FILE], [DIR] or [LINK] before the name. What is below is not listed.",
		Annotations: reading(),
	}, t.list)
	add(srv, mcp.Tool{
		Name:  "directory_tree",
		Title: "Folder tree",
		Description: "Shows a folder and all below it as JSON: name, type (file, directory, link) and the children of folders. " +
			"Leave out large folders such as node_modules with excludePatterns.",
		Annotations: reading(),
	}, t.tree)
	add(srv, mcp.Tool{
		Name:        "get_file_info",
		Title:       "File information",
		Description: "Tells size, time of the last change, kind, permissions and type of a file, folder or link.",
		Annotations: reading(),
	}, t.info)
	add(srv, mcp.Tool{
		Name:        "list_allowed_directories",
		Title:       "Allowed folder",
		Description: "Tells the folder that all paths are in. Nothing outside it can be used.",
		Annotations: reading(),
	}, func(context.Context, struct{}) (*mcp.CallToolResult, error) {
		return text("Allowed directories:\n" + t.folder.Dir())
	})
}

func (t *tools) list(_ context.Context, in onePath) (*mcp.CallToolResult, error) {
	entries, more, err := t.folder.List(in.Path)
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return text("", "The folder is empty.")
	}
	lines := make([]string, len(entries))
	for i, e := range entries {
		lines[i] = label(e.Type) + " " + folder.Quote(e.Name)
	}
	return text(strings.Join(lines, "\n"), rest(more, "use search_files with a pattern to see them"))
}

// label is what stands before a name in a list.
func label(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "[FILE]"
	case mode.IsDir():
		return "[DIR]"
	case mode&fs.ModeSymlink != 0:
		return "[LINK]"
	}
	return "[OTHER]"
}

// rest says how many were left out, if any.
func rest(more int, advice string) string {
	if more == 0 {
		return ""
	}
	return fmt.Sprintf("… %d more: %s", more, advice)
}

func (t *tools) tree(ctx context.Context, in tree) (*mcp.CallToolResult, error) {
	nodes, more, cut, err := t.folder.Tree(ctx, in.Path, in.Exclude)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(nodes); err != nil {
		return nil, err
	}
	return text(strings.TrimSpace(b.String()), rest(more, "choose a folder further down, or leave some out with excludePatterns"), string(cut))
}

func (t *tools) info(_ context.Context, in onePath) (*mcp.CallToolResult, error) {
	info, err := t.folder.Info(in.Path)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "path: %s\nkind: %s\nsize: %d\nmodified: %s\nisDirectory: %t\nisFile: %t\npermissions: %03o",
		folder.Quote(info.Path), info.Kind, info.Size, info.Modified.UTC().Format(time.RFC3339),
		info.Kind == "directory", info.Kind == "file", info.Permissions)
	if info.MIMEType != "" {
		fmt.Fprintf(&b, "\nmimeType: %s", info.MIMEType)
	}
	if info.Link != "" {
		fmt.Fprintf(&b, "\nlinkTarget: %s", folder.Quote(info.Link))
	}
	return text(b.String())
}

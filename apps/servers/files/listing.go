package files

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/ferrymcp/ferry/apps/servers/files/folder"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// tree holds the arguments of directory_tree.
type tree struct {
	Path      string   `json:"path"`
	Exclude   []string `json:"excludePatterns,omitzero"`
	Gitignore bool     `json:"respectGitignore,omitzero"`
}

// listSizes holds the arguments of list_directory_with_sizes.
type listSizes struct {
	Path   string `json:"path"`
	SortBy string `json:"sortBy,omitzero"`
}

// addListing adds the tools that show what there is.
func (t *tools) addListing(srv *server.Server) {
	add(t, srv, mcp.Tool{
		Name: "list_directory", Title: "List Directory", Annotations: reading(),
		Description: "Lists what is in a folder, each line with [FILE] or [DIR] before the name. What is below is not listed.",
	}, list)
	add(t, srv, mcp.Tool{
		Name: "list_directory_with_sizes", Title: "List Directory with Sizes", Annotations: reading(),
		Description: "Lists what is in a folder, each line with [FILE] or [DIR] before the name and the size after it, and their number and sum at the end.",
	}, listWithSizes)
	add(t, srv, mcp.Tool{
		Name: "directory_tree", Title: "Directory Tree", Annotations: reading(),
		Description: "Shows a folder and all below it as JSON: name, type (file or directory) and the children of folders. " +
			"Leave out large folders such as node_modules with excludePatterns or respectGitignore.",
	}, showTree)
	add(t, srv, mcp.Tool{
		Name: "get_file_info", Title: "Get File Info", Annotations: reading(),
		Description: "Tells size, times, type and permissions of a file or folder, without reading it.",
	}, info)
	add(t, srv, mcp.Tool{
		Name: "list_allowed_directories", Title: "List Allowed Directories", Annotations: reading(),
		Description: "Tells the folders that all paths are in. Nothing outside them can be used.",
	}, func(_ context.Context, r request[struct{}]) (*mcp.CallToolResult, error) {
		return text("Allowed directories:\n" + strings.Join(r.Dirs(), "\n"))
	})
}

func list(_ context.Context, r request[onePath]) (*mcp.CallToolResult, error) {
	f, rel, err := r.At(r.in.Path)
	if err != nil {
		return nil, err
	}
	entries, more, err := f.List(rel)
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return text("", "The folder is empty.")
	}
	lines := make([]string, len(entries))
	for i, e := range entries {
		lines[i] = label(e) + " " + folder.Quote(e.Name)
	}
	return text(strings.Join(lines, "\n"), rest(more, "use search_files with a pattern to see them"))
}

// label is what stands before a name in a list.
func label(e folder.Entry) string {
	if e.Type.IsDir() {
		return "[DIR]"
	}
	return "[FILE]"
}

// rest says how many were left out, if any.
func rest(more int, advice string) string {
	if more == 0 {
		return ""
	}
	return fmt.Sprintf("… %d more: %s", more, advice)
}

func listWithSizes(ctx context.Context, r request[listSizes]) (*mcp.CallToolResult, error) {
	f, rel, err := r.At(r.in.Path)
	if err != nil {
		return nil, err
	}
	list, more, err := f.ListSizes(ctx, rel, r.Set)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(a, b folder.Sized) int {
		if r.in.SortBy == "size" {
			return cmp.Compare(b.Size, a.Size)
		}
		return folder.Compare(a.Name, b.Name)
	})
	var lines []string
	var files, dirs int
	var sum int64
	for _, e := range list {
		size := ""
		if e.Type.IsDir() {
			dirs++
		} else {
			files++
			sum += e.Size
			size = fmt.Sprintf("%10s", sizeOf(e.Size))
		}
		name := folder.Quote(e.Name)
		padding := strings.Repeat(" ", max(0, 30-len(utf16.Encode([]rune(name)))))
		lines = append(lines, label(e.Entry)+" "+name+padding+" "+size)
	}
	lines = append(lines, "", fmt.Sprintf("Total: %d files, %d directories", files, dirs), "Combined size: "+sizeOf(sum))
	return text(strings.Join(lines, "\n"), rest(more, "use search_files with a pattern to see them"))
}

// sizeOf writes a size for people.
func sizeOf(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", max(n, 0))
	}
	units := []string{"KB", "MB", "GB", "TB"}
	size, i := float64(n)/1024, 0
	for size >= 1024 && i < len(units)-1 {
		size /= 1024
		i++
	}
	return fmt.Sprintf("%.2f %s", size, units[i])
}

func showTree(ctx context.Context, r request[tree]) (*mcp.CallToolResult, error) {
	f, rel, err := r.At(r.in.Path)
	if err != nil {
		return nil, err
	}
	shown, more, cut, err := f.Tree(ctx, rel, walk(ctx, r.call, r.in.Exclude, r.in.Gitignore))
	if err != nil {
		return nil, err
	}
	return text(shown, rest(more, "choose a folder further down, or leave some out with excludePatterns"), string(cut))
}

// walk is how to go through a folder, telling the caller how far it is.
func walk(ctx context.Context, c *server.Call, exclude []string, gitignore bool) folder.Walk {
	w := folder.Walk{Exclude: exclude, Gitignore: gitignore}
	if c.WantsProgress() {
		w.Progress = func(seen int) {
			// When the caller has gone, ctx ends.
			_ = c.Progress(ctx, float64(seen), 0, fmt.Sprintf("%d files and folders seen", seen))
		}
	}
	return w
}

func info(_ context.Context, r request[onePath]) (*mcp.CallToolResult, error) {
	f, rel, err := r.At(r.in.Path)
	if err != nil {
		return nil, err
	}
	info, err := f.Info(rel)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "size: %d\ncreated: %s\nmodified: %s\naccessed: %s\nisDirectory: %t\nisFile: %t\npermissions: %03o",
		info.Size, date(info.Created), date(info.Modified), date(info.Accessed),
		info.Kind == "directory", info.Kind == "file", info.Permissions)
	if info.MIMEType != "" {
		fmt.Fprintf(&b, "\nmimeType: %s", info.MIMEType)
	}
	if info.Link != "" {
		fmt.Fprintf(&b, "\nlinkTarget: %s", folder.Quote(info.Link))
	}
	return text(b.String())
}

// date writes a time in the local zone as JavaScript does.
func date(t time.Time) string {
	t = t.Local()
	zone := t.Format("MST")
	if zone == "UTC" {
		zone = "Coordinated Universal Time"
	}
	return t.Format("Mon Jan 02 2006 15:04:05 GMT-0700") + " (" + zone + ")"
}

package files

import (
	"context"
	"fmt"
	"strings"

	"github.com/ferrymcp/ferry/apps/servers/files/folder"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// writeFile holds the arguments of write_file.
type writeFile struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	Parents bool   `json:"createParents,omitzero"`
}

// editFile holds the arguments of edit_file.
type editFile struct {
	Path   string        `json:"path"`
	Edits  []folder.Edit `json:"edits"`
	DryRun bool          `json:"dryRun,omitzero"`
}

// moveFile holds the arguments of move_file.
type moveFile struct {
	Source      string `json:"source"`
	Destination string `json:"destination"`
}

// addWriting adds the tools that change something.
func (t *tools) addWriting(srv *server.Server) {
	add(t, srv, mcp.Tool{
		Name: "write_file", Title: "Write File", Annotations: writing(true, true),
		Description: "Makes a file, or replaces the whole content of one that is there, without asking. " +
			"Use edit_file to change a part of a file.",
	}, write)
	add(t, srv, mcp.Tool{
		Name: "edit_file", Title: "Edit File", Annotations: writing(false, true),
		Description: "Replaces texts in a file and returns the difference. Spaces at the ends of lines may differ from those in the file. " +
			"Give whole lines, and enough of them to be the only ones. Use dryRun to see the difference before.",
	}, edit)
	add(t, srv, mcp.Tool{
		Name: "create_directory", Title: "Create Directory", Annotations: writing(true, false),
		Description: "Makes a folder, with the folders on the way. It is no error if it is there.",
	}, makeFolder)
	add(t, srv, mcp.Tool{
		Name: "move_file", Title: "Move File", Annotations: writing(false, true),
		Description: "Moves or renames a file or folder. It fails if anything is at the destination.",
	}, move)
}

func write(_ context.Context, r request[writeFile]) (*mcp.CallToolResult, error) {
	f, rel, err := r.At(r.in.Path)
	if err != nil {
		return nil, err
	}
	if _, err := f.Write(rel, r.in.Content, r.in.Parents); err != nil {
		return nil, err
	}
	return text("Successfully wrote to " + folder.Quote(r.in.Path))
}

func edit(_ context.Context, r request[editFile]) (*mcp.CallToolResult, error) {
	f, rel, err := r.At(r.in.Path)
	if err != nil {
		return nil, err
	}
	edited, err := f.Edit(rel, r.in.Edits, r.in.DryRun)
	if err != nil {
		return nil, err
	}
	var notes []string
	for _, number := range edited.Ambiguous {
		notes = append(notes, fmt.Sprintf("The oldText of edit %d occurs several times: the first one was replaced. Give more lines around it to choose another.", number))
	}
	if r.in.DryRun {
		notes = append(notes, "The file was not changed: this is what would change.")
	}
	return text(fenced(edited.Diff), notes...)
}

// fenced puts a diff into a fence that is longer than any in the diff itself.
func fenced(diff string) string {
	fence := "```"
	for strings.Contains(diff, fence) {
		fence += "`"
	}
	return fence + "diff\n" + diff + fence + "\n\n"
}

func makeFolder(_ context.Context, r request[onePath]) (*mcp.CallToolResult, error) {
	f, rel, err := r.At(r.in.Path)
	if err != nil {
		return nil, err
	}
	if _, err := f.MakeFolder(rel); err != nil {
		return nil, err
	}
	return text("Successfully created directory " + folder.Quote(r.in.Path))
}

func move(_ context.Context, r request[moveFile]) (*mcp.CallToolResult, error) {
	from, source, err := r.At(r.in.Source)
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	to, destination, err := r.At(r.in.Destination)
	if err != nil {
		return nil, fmt.Errorf("destination: %w", err)
	}
	if from == to {
		err = from.Move(source, destination)
	} else {
		err = from.MoveTo(source, to, destination)
	}
	if err != nil {
		return nil, err
	}
	return text(fmt.Sprintf("Successfully moved %s to %s", folder.Quote(r.in.Source), folder.Quote(r.in.Destination)))
}

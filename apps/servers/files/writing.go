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
	Path    string `json:"path" jsonschema:"path of the file, relative to the allowed folder or absolute inside it"`
	Content string `json:"content" jsonschema:"the whole new content of the file"`
	Parents bool   `json:"createParents,omitzero" jsonschema:"make the folders on the way if they are missing"`
}

// editFile holds the arguments of edit_file.
type editFile struct {
	Path   string        `json:"path" jsonschema:"path of the file, relative to the allowed folder or absolute inside it"`
	Edits  []folder.Edit `json:"edits" jsonschema:"replacements, made one after the other; either all are made or none"`
	DryRun bool          `json:"dryRun,omitzero" jsonschema:"only show what would change"`
}

// moveFile holds the arguments of move_file.
type moveFile struct {
	Source      string `json:"source" jsonschema:"path of what to move"`
	Destination string `json:"destination" jsonschema:"new path; nothing may be there"`
}

// addWriting adds the tools that change something.
func (t *tools) addWriting(srv *server.Server) {
	add(srv, mcp.Tool{
		Name:  "write_file",
		Title: "Write file",
		Description: "Makes a file, or replaces the whole content of one that is there. " +
			"Use edit_file to change a part of a file.",
		Annotations: writing(true, true),
	}, t.writeFile)
	add(srv, mcp.Tool{
		Name:  "edit_file",
		Title: "Edit file",
		Description: "Replaces texts in a file and returns the difference. Each oldText must occur exactly once; " +
			"spaces at the ends of lines may differ. Use dryRun to see the difference before.",
		Annotations: writing(false, true),
	}, t.editFile)
	add(srv, mcp.Tool{
		Name:        "create_directory",
		Title:       "Make folder",
		Description: "Makes a folder, with the folders on the way. It is no error if it is there.",
		Annotations: writing(true, false),
	}, t.makeFolder)
	add(srv, mcp.Tool{
		Name:        "move_file",
		Title:       "Move or rename",
		Description: "Moves or renames a file or folder. It fails if anything is at the destination.",
		Annotations: writing(false, true),
	}, t.moveFile)
}

func (t *tools) writeFile(_ context.Context, in writeFile) (*mcp.CallToolResult, error) {
	created, err := t.folder.Write(in.Path, in.Content, in.Parents)
	if err != nil {
		return nil, err
	}
	what := "Replaced"
	if created {
		what = "Created"
	}
	return text(fmt.Sprintf("%s %s (%d bytes)", what, folder.Quote(in.Path), len(in.Content)))
}

func (t *tools) editFile(_ context.Context, in editFile) (*mcp.CallToolResult, error) {
	diff, err := t.folder.Edit(in.Path, in.Edits, in.DryRun)
	if err != nil {
		return nil, err
	}
	if diff == "" {
		return text("The edits change nothing.")
	}
	var note string
	if in.DryRun {
		note = "The file was not changed: this is what would change."
	}
	return text(fenced(diff), note)
}

// fenced puts a diff into a fence that is longer than any in the diff itself.
func fenced(diff string) string {
	fence := "```"
	for strings.Contains(diff, fence) {
		fence += "`"
	}
	return fence + "diff\n" + diff + fence + "\n"
}

func (t *tools) makeFolder(_ context.Context, in onePath) (*mcp.CallToolResult, error) {
	created, err := t.folder.MakeFolder(in.Path)
	if err != nil {
		return nil, err
	}
	if !created {
		return text(fmt.Sprintf("%s is there already", folder.Quote(in.Path)))
	}
	return text(fmt.Sprintf("Created folder %s", folder.Quote(in.Path)))
}

func (t *tools) moveFile(_ context.Context, in moveFile) (*mcp.CallToolResult, error) {
	if err := t.folder.Move(in.Source, in.Destination); err != nil {
		return nil, err
	}
	return text(fmt.Sprintf("Moved %s to %s", folder.Quote(in.Source), folder.Quote(in.Destination)))
}

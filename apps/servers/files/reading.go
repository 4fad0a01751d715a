package files

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ferrymcp/ferry/apps/servers/files/folder"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// readFile holds the arguments of read_file.
type readFile struct {
	Path   string `json:"path" jsonschema:"path of the file, relative to the allowed folder or absolute inside it"`
	Head   int    `json:"head,omitzero" jsonschema:"return only so many first lines"`
	Tail   int    `json:"tail,omitzero" jsonschema:"return only so many last lines"`
	Offset int    `json:"offset,omitzero" jsonschema:"number of the first line to return, from 1"`
	Limit  int    `json:"limit,omitzero" jsonschema:"how many lines to return from offset on"`
}

// onePath holds the arguments of tools that need a path only.
type onePath struct {
	Path string `json:"path" jsonschema:"path relative to the allowed folder, or absolute inside it; a dot stands for the folder itself"`
}

// readFiles holds the arguments of read_multiple_files.
type readFiles struct {
	Paths []string `json:"paths" jsonschema:"paths of the files, relative to the allowed folder or absolute inside it"`
}

// maxFiles is how many files one call reads.
const maxFiles = 100

// addReading adds the tools that read files.
func (t *tools) addReading(srv *server.Server) {
	add(srv, mcp.Tool{
		Name:  "read_file",
		Title: "Read file",
		Description: "Reads a file that holds text in UTF-8: all of it, the first lines (head), the last lines (tail), " +
			"or some lines from the middle (offset and limit). Use read_media_file for pictures, sound and other bytes.",
		Annotations: reading(),
	}, t.readFile)
	server.AddTool(srv, mcp.Tool{
		Name:        "read_media_file",
		Title:       "Read media file",
		Description: "Reads a picture, sound or any other file that is not text, as bytes with their type.",
		Annotations: reading(),
	}, t.readMedia)
	add(srv, mcp.Tool{
		Name:  "read_multiple_files",
		Title: "Read several files",
		Description: "Reads several files that hold text in UTF-8, each after its path. " +
			"A file that cannot be read is reported in its place; the others are returned.",
		Annotations: reading(),
	}, t.readFiles)
}

func (t *tools) readFile(ctx context.Context, in readFile) (*mcp.CallToolResult, error) {
	content, err := t.folder.ReadText(ctx, in.Path, folder.Lines{Head: in.Head, Tail: in.Tail, Offset: in.Offset, Limit: in.Limit})
	if err != nil {
		return nil, err
	}
	return text(content)
}

func (t *tools) readMedia(_ context.Context, _ *server.Call, in onePath) (*mcp.CallToolResult, error) {
	b, err := t.folder.ReadBytes(in.Path)
	if err != nil {
		return nil, err
	}
	var content mcp.Content
	switch {
	case strings.HasPrefix(b.MIMEType, "image/"):
		content = mcp.Image(b.Data, b.MIMEType)
	case strings.HasPrefix(b.MIMEType, "audio/"):
		content = mcp.Audio(b.Data, b.MIMEType)
	default:
		uri, err := t.folder.URI(in.Path)
		if err != nil {
			return nil, err
		}
		content = mcp.Embed(mcp.BlobResource(uri, b.MIMEType, b.Data))
	}
	return &mcp.CallToolResult{Content: []mcp.Content{content}}, nil
}

func (t *tools) readFiles(ctx context.Context, in readFiles) (*mcp.CallToolResult, error) {
	switch {
	case len(in.Paths) == 0:
		return nil, errors.New("there are no paths: give at least one")
	case len(in.Paths) > maxFiles:
		return nil, fmt.Errorf("there are %d paths: one call reads at most %d files", len(in.Paths), maxFiles)
	}
	left := t.folder.MaxText()
	parts := make([]string, len(in.Paths))
	for i, name := range in.Paths {
		content, err := t.folder.ReadText(ctx, name, folder.Lines{})
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if left -= int64(len(content)); err == nil && left < 0 {
			left += int64(len(content))
			err = errors.New("too much for one call together with the files before it: read it in a call of its own")
		}
		if err != nil {
			parts[i] = fmt.Sprintf("%s: Error - %v", folder.Quote(name), err)
			continue
		}
		parts[i] = fmt.Sprintf("%s:\n%s\n", folder.Quote(name), content)
	}
	return text(strings.Join(parts, "\n---\n"))
}

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

// readFile holds the arguments of read_text_file.
type readFile struct {
	Path   string `json:"path"`
	Head   int    `json:"head,omitzero"`
	Tail   int    `json:"tail,omitzero"`
	Offset int    `json:"offset,omitzero"`
	Limit  int    `json:"limit,omitzero"`
}

// onePath holds the arguments of tools that need a path only.
type onePath struct {
	Path string `json:"path"`
}

// readFiles holds the arguments of read_multiple_files.
type readFiles struct {
	Paths []string `json:"paths"`
}

// maxFiles is how many files one call reads.
const maxFiles = 1000

// addReading adds the tools that read files.
func (t *tools) addReading(srv *server.Server) {
	add(t, srv, mcp.Tool{
		Name: "read_file", Title: "Read File (Deprecated)", Annotations: reading(),
		Description: "Reads a text file. The same as read_text_file, which should be used instead.",
	}, readText)
	add(t, srv, mcp.Tool{
		Name: "read_text_file", Title: "Read Text File", Annotations: reading(),
		Description: "Reads a file that holds text in UTF-8: all of it, the first lines (head), the last lines (tail), " +
			"or some lines from the middle (offset and limit). Use read_media_file for pictures, sound and other bytes.",
	}, readText)
	add(t, srv, mcp.Tool{
		Name: "read_media_file", Title: "Read Media File", Annotations: reading(), OutputSchema: mediaSchema,
		Description: "Reads a picture, sound or any other file that is not text, as bytes with their type.",
	}, readMedia)
	add(t, srv, mcp.Tool{
		Name: "read_multiple_files", Title: "Read Multiple Files", Annotations: reading(),
		Description: "Reads several files that hold text in UTF-8, each after its path. " +
			"A file that cannot be read is reported in its place; the others are returned.",
	}, t.readFiles)
}

func readText(ctx context.Context, r request[readFile]) (*mcp.CallToolResult, error) {
	f, rel, err := r.At(r.in.Path)
	if err != nil {
		return nil, err
	}
	content, err := f.ReadText(ctx, rel, folder.Lines{Head: r.in.Head, Tail: r.in.Tail, Offset: r.in.Offset, Limit: r.in.Limit})
	if err != nil {
		return nil, err
	}
	if r.in.Head > 0 {
		content = strings.TrimSuffix(content, "\n")
	}
	return text(content)
}

func readMedia(_ context.Context, r request[onePath]) (*mcp.CallToolResult, error) {
	f, rel, err := r.At(r.in.Path)
	if err != nil {
		return nil, err
	}
	b, err := f.ReadBytes(rel)
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
		uri, err := f.URI(rel)
		if err != nil {
			return nil, err
		}
		content = mcp.Embed(mcp.BlobResource(uri, b.MIMEType, b.Data))
	}
	structured, err := raw(map[string][]mcp.Content{"content": {content}})
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{content}, StructuredContent: structured}, nil
}

func (t *tools) readFiles(ctx context.Context, r request[readFiles]) (*mcp.CallToolResult, error) {
	switch {
	case len(r.in.Paths) == 0:
		return nil, errors.New("there are no paths: give at least one")
	case len(r.in.Paths) > maxFiles:
		return nil, fmt.Errorf("there are %d paths: one call reads at most %d files", len(r.in.Paths), maxFiles)
	}
	left := r.Folders()[0].MaxText()
	parts := make([]string, len(r.in.Paths))
	for i, name := range r.in.Paths {
		content, err := readWhole(ctx, r.Set, name)
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

func readWhole(ctx context.Context, set *folder.Set, name string) (string, error) {
	f, rel, err := set.At(name)
	if err != nil {
		return "", err
	}
	return f.ReadText(ctx, rel, folder.Lines{})
}

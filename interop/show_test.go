package interop_test

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/ferrymcp/ferry/mcp"
)

// names shows a list, sorted.
func names[T any](list iter.Seq2[T, error], name func(T) string) (string, error) {
	var all []string
	for element, err := range list {
		if err != nil {
			return "", err
		}
		all = append(all, name(element))
	}
	slices.Sort(all)
	return strings.Join(all, " "), nil
}

func toolName(t mcp.Tool) string                 { return t.Name }
func resourceURI(r mcp.Resource) string          { return r.URI }
func templateText(t mcp.ResourceTemplate) string { return t.URITemplate }

func promptShape(p mcp.Prompt) string {
	var args []string
	for _, a := range p.Arguments {
		if a.Required {
			a.Name += "!"
		}
		args = append(args, a.Name)
	}
	return p.Name + "(" + strings.Join(args, " ") + ")"
}

// show shows blocks of content.
func show(blocks []mcp.Content) string {
	var parts []string
	for _, b := range blocks {
		switch b.Type {
		case mcp.TypeText:
			parts = append(parts, b.Text)
		case mcp.TypeImage, mcp.TypeAudio:
			parts = append(parts, fmt.Sprintf("%s %s %d", b.Type, b.MIMEType, len(b.Data)))
		case mcp.TypeResourceLink:
			parts = append(parts, "link "+b.Link.URI)
		case mcp.TypeResource:
			parts = append(parts, "resource "+b.Resource.URI+" "+b.Resource.Text)
		default:
			parts = append(parts, "? "+b.Type)
		}
	}
	return strings.Join(parts, ", ")
}

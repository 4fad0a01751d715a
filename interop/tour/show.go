package tour

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Progress is a step of progress.
type Progress struct {
	Progress, Total float64
	Message         string
}

// The results as they cross the wire, as far as the tour looks at them.
type (
	page struct {
		Tools      []element
		Resources  []element
		Templates  []element `json:"resourceTemplates"`
		Prompts    []element
		NextCursor string
	}
	element struct {
		Name, URI, URITemplate    string
		InputSchema, OutputSchema schema
		Arguments                 []struct {
			Name     string
			Required bool
		}
	}
	schema     struct{ Properties map[string]json.RawMessage }
	toolResult struct {
		Content    []block
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool
	}
	block struct {
		Type, Text, MIMEType, URI string
		Data                      []byte
		Resource                  contents
	}
	contents struct {
		URI, MIMEType, Text string
		Blob                []byte
	}
	readResult   struct{ Contents []contents }
	promptResult struct {
		Messages []struct {
			Role    string
			Content block
		}
	}
	completeResult struct{ Completion struct{ Values []string } }
)

// convert reads a client's own value as what it stands for.
func convert(from, to any) error {
	data, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, to)
}

func (e *element) show(method string) string {
	switch method {
	case "resources/list":
		return e.URI
	case "resources/templates/list":
		return e.URITemplate
	case "prompts/list":
		var args []string
		for _, a := range e.Arguments {
			if a.Required {
				a.Name += "!"
			}
			args = append(args, a.Name)
		}
		return e.Name + "(" + strings.Join(args, " ") + ")"
	}
	return e.Name
}

func (s *schema) fields() string {
	return strings.Join(slices.Sorted(maps.Keys(s.Properties)), " ")
}

func show(blocks []block) string {
	var parts []string
	for _, b := range blocks {
		switch b.Type {
		case "text":
			parts = append(parts, b.Text)
		case "image", "audio":
			parts = append(parts, fmt.Sprintf("%s %s %d", b.Type, b.MIMEType, len(b.Data)))
		case "resource_link":
			parts = append(parts, "link "+b.URI)
		case "resource":
			parts = append(parts, "resource "+b.Resource.URI+" "+b.Resource.Text)
		default:
			parts = append(parts, "? "+b.Type)
		}
	}
	return strings.Join(parts, ", ")
}

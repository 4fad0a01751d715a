package apps

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ferrymcp/ferry/mcp"
)

const (
	// Extension identifies the extension in capabilities.
	Extension = "io.modelcontextprotocol/ui"
	// MIMEType is the type of pages, the only one so far.
	MIMEType = "text/html;profile=mcp-app"
)

const (
	scheme = "ui://"
	// metaKey is where tools and pages have what this package is about.
	metaKey = "ui"
	// flatKey is where older servers have the URI of a tool's page.
	flatKey = "ui/resourceUri"
)

// Who can see and call a tool.
const (
	Model = "model"
	App   = "app"
)

// settings are what a host declares with the extension.
type settings struct {
	MIMETypes []string `json:"mimeTypes"`
}

// Declare declares that a host can show pages. Servers offer them to no other.
func Declare(caps *mcp.ClientCapabilities) {
	extensions := maps.Clone(caps.Extensions)
	if extensions == nil {
		extensions = make(map[string]json.RawMessage, 1)
	}
	extensions[Extension] = json.RawMessage(`{"mimeTypes":["` + MIMEType + `"]}`)
	caps.Extensions = extensions
}

// Supported reports whether a host has declared that it can show pages. Servers
// ask it with Call.ClientCapabilities.
func Supported(caps mcp.ClientCapabilities) bool {
	var s settings
	raw, ok := caps.Extensions[Extension]
	return ok && json.Unmarshal(raw, &s) == nil && slices.Contains(s.MIMETypes, MIMEType)
}

// A Tool is what the definition of a tool says about its page.
type Tool struct {
	// ResourceURI is the page to show results in; "" for none.
	ResourceURI string `json:"resourceUri,omitzero"`
	// Visibility says who can see and call the tool, Model, App or both; nil
	// means both.
	Visibility []string `json:"visibility,omitzero"`
}

// Link returns the tool with what belongs to its page. It panics if the page has
// no URI of the scheme ui, or the visibility names somebody else. Results need
// content that makes sense without the page all the same.
func Link(t mcp.Tool, ui Tool) mcp.Tool {
	if ui.ResourceURI != "" && !isPage(ui.ResourceURI) {
		panic(fmt.Sprintf("apps.Link: tool %s: %q is not a ui:// URI", t.Name, ui.ResourceURI))
	}
	for _, who := range ui.Visibility {
		if who != Model && who != App {
			panic(fmt.Sprintf("apps.Link: tool %s cannot be visible to %q", t.Name, who))
		}
	}
	t.Meta = withUI(t.Meta, ui)
	return t
}

// OfTool returns what a tool says about its page, and false if it says nothing. A
// host that shows no pages treats it as any other tool, except that ForModel
// holds for everybody.
func OfTool(t mcp.Tool) (Tool, bool) {
	var ui Tool
	found, err := t.Meta.Get(metaKey, &ui)
	if err != nil {
		ui = Tool{}
	}
	if ui.ResourceURI == "" {
		flat, err := t.Meta.Get(flatKey, &ui.ResourceURI)
		found = found || flat && err == nil
	}
	if ui.ResourceURI != "" && !isPage(ui.ResourceURI) {
		ui.ResourceURI = "" // pages are of this scheme, whatever the server says
	}
	return ui, found
}

// ForModel reports whether a host may show the tool to its model.
func ForModel(t mcp.Tool) bool { return visible(t, Model) }

// ForApp reports whether pages of the same server may call the tool. A host
// refuses all other calls of pages, and those to other servers.
func ForApp(t mcp.Tool) bool { return visible(t, App) }

func visible(t mcp.Tool, to string) bool {
	ui, _ := OfTool(t)
	return ui.Visibility == nil || slices.Contains(ui.Visibility, to)
}

func isPage(uri string) bool { return strings.HasPrefix(uri, scheme) && len(uri) > len(scheme) }

// withUI returns a copy of metadata with a value for the extension.
func withUI(meta mcp.Meta, ui any) mcp.Meta {
	meta = maps.Clone(meta)
	if err := meta.Set(metaKey, ui); err != nil {
		panic(fmt.Sprintf("apps: %v", err)) // strings and booleans always encode
	}
	return meta
}

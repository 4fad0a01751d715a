package everything

import (
	"context"
	"embed"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// The addresses of resources.
const (
	textURI     = "demo://resource/dynamic/text/"
	blobURI     = "demo://resource/dynamic/blob/"
	documentURI = "demo://resource/static/document/"
)

// documents are pages about the server.
//
//go:embed docs/*.md
var documents embed.FS

// dynamic makes a resource of a number. It is not the same twice: it holds the time.
func dynamic(blob bool, id string) mcp.ResourceContents {
	now := time.Now().Format("3:04:05 PM")
	if blob {
		return mcp.BlobResource(blobURI+id, "text/plain", fmt.Appendf(nil, "Resource %s: This is a base64 blob created at %s", id, now))
	}
	return mcp.TextResource(textURI+id, "text/plain", fmt.Sprintf("Resource %s: This is a plaintext resource created at %s", id, now))
}

// whole returns the text of a whole number from 1 on, and whether it is one.
func whole(f float64) (string, bool) {
	return number(f), f >= 1 && f == math.Trunc(f) && !math.IsInf(f, 0)
}

// wholeText is whole for a text.
func wholeText(s string) (string, bool) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return "", false
	}
	return whole(f)
}

// addResources adds resources, the templates of others, and the tools that return them.
func addResources(srv *server.Server) {
	for _, kind := range []struct {
		name, uri, mimeType, description string
		blob                             bool
	}{
		{"Dynamic Text Resource", textURI, "text/plain", "A text made of the number {resourceId}, which is whole and more than zero", false},
		{"Dynamic Blob Resource", blobURI, "application/octet-stream", "Bytes made of the number {resourceId}, which is whole and more than zero", true},
	} {
		template := kind.uri + "{resourceId}"
		srv.AddResourceTemplate(mcp.ResourceTemplate{
			URITemplate: template, Name: kind.name, Description: kind.description, MIMEType: kind.mimeType, Icons: icons,
		}, func(_ context.Context, _ *server.Call, uri string, vars map[string]string) (*mcp.ReadResourceResult, error) {
			id, ok := wholeText(vars["resourceId"])
			if !ok {
				return nil, &mcp.ResourceNotFoundError{URI: uri}
			}
			contents := dynamic(kind.blob, id)
			contents.URI = uri
			return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{contents}}, nil
		})
		srv.CompleteResource(template, "resourceId", completeID)
	}
	entries, err := documents.ReadDir("docs")
	if err != nil {
		panic("everything: " + err.Error())
	}
	for _, e := range entries {
		text, err := documents.ReadFile("docs/" + e.Name())
		if err != nil {
			panic("everything: " + err.Error())
		}
		size := int64(len(text))
		srv.AddResource(mcp.Resource{
			URI: documentURI + e.Name(), Name: e.Name(), MIMEType: "text/markdown", Size: &size, Icons: icons,
			Description: "A page about this server: " + e.Name(),
		}, func(_ context.Context, _ *server.Call, uri string, _ map[string]string) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource(uri, "text/markdown", string(text))}}, nil
		})
	}
	add(srv, mcp.Tool{
		Name: "get-resource-links", Title: "Links to resources", Annotations: hints(true, true, false),
		Description: "Returns links to up to ten resources.",
	}, `"count":{"type":"number","minimum":1,"maximum":10,"default":3,"description":"how many links, from 1 to 10"}`, nil, links)
	add(srv, mcp.Tool{
		Name: "get-resource-reference", Title: "Embedded resource", Annotations: hints(true, true, false),
		Description: "Returns a resource with its contents.",
	}, `"resourceType":{"type":"string","enum":["Text","Blob"],"default":"Text"},`+
		`"resourceId":{"type":"number","default":1,"description":"number of the resource"}`, nil, reference)
}

// completeID proposes what is typed if it is a number that a resource can have.
func completeID(_ context.Context, _ *server.Call, value string, _ map[string]string) ([]string, error) {
	if _, ok := wholeText(value); ok {
		return []string{value}, nil
	}
	return nil, nil
}

func links(_ context.Context, _ *server.Call, in struct {
	Count *float64 `json:"count"`
},
) (*mcp.CallToolResult, error) {
	count := or(in.Count, 3)
	r := &mcp.CallToolResult{Content: []mcp.Content{
		mcp.Text(fmt.Sprintf("Here are %s resource links to resources available in this server:", number(count))),
	}}
	for i := 1; float64(i) <= count; i++ {
		kind, contents := "Blob", dynamic(true, strconv.Itoa(i))
		if i%2 == 0 {
			kind, contents = "Text", dynamic(false, strconv.Itoa(i))
		}
		r.Content = append(r.Content, mcp.Link(mcp.Resource{
			URI: contents.URI, Name: fmt.Sprintf("%s Resource %d", kind, i),
			Description: fmt.Sprintf("Resource %d: plaintext resource", i), MIMEType: contents.MIMEType,
		}))
	}
	return r, nil
}

func reference(_ context.Context, _ *server.Call, in struct {
	Type *string  `json:"resourceType"`
	ID   *float64 `json:"resourceId"`
},
) (*mcp.CallToolResult, error) {
	id, ok := whole(or(in.ID, 1))
	if !ok {
		return nil, fmt.Errorf("Invalid resourceId: %s. Must be a finite positive integer.", id) //nolint:staticcheck,revive // as it is elsewhere
	}
	contents := dynamic(or(in.Type, "Text") == "Blob", id)
	return &mcp.CallToolResult{Content: []mcp.Content{
		mcp.Text(fmt.Sprintf("Returning resource reference for Resource %s:", id)),
		mcp.Embed(contents),
		mcp.Text("You can access this resource using the URI: " + contents.URI),
	}}, nil
}

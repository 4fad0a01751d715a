package main

import (
	"context"
	"encoding/base64"
	"encoding/json"

	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// The smallest files of their kinds: one pixel, and no sound.
var (
	pixel   = unbase64("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	silence = unbase64("UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=")
)

func unbase64(s string) []byte {
	data, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return data
}

func addResources(srv *server.Server) {
	addResource(srv, mcp.Resource{URI: "test://static-text", Name: "Static text", MIMEType: "text/plain"},
		mcp.TextResource("test://static-text", "text/plain", "This is the content of the static text resource."))
	addResource(srv, mcp.Resource{URI: "test://static-binary", Name: "Static image", MIMEType: "image/png"},
		mcp.BlobResource("test://static-binary", "image/png", pixel))
	addResource(srv, mcp.Resource{URI: "test://watched-resource", Name: "Watched text", MIMEType: "text/plain"},
		mcp.TextResource("test://watched-resource", "text/plain", "Clients can subscribe to this."))
	srv.AddResourceTemplate(mcp.ResourceTemplate{
		URITemplate: "test://template/{id}/data", Name: "Records", Description: "A record for each id", MIMEType: "application/json",
	}, func(_ context.Context, _ *server.Call, uri string, vars map[string]string) (*mcp.ReadResourceResult, error) {
		record, err := json.Marshal(map[string]any{"id": vars["id"], "templateTest": true, "data": "Data for ID: " + vars["id"]})
		if err != nil {
			return nil, err
		}
		return read(mcp.TextResource(uri, "application/json", string(record))), nil
	})
}

func addResource(srv *server.Server, r mcp.Resource, contents mcp.ResourceContents) {
	r.Description = "Always the same"
	srv.AddResource(r, func(context.Context, *server.Call, string, map[string]string) (*mcp.ReadResourceResult, error) {
		return read(contents), nil
	})
}

func read(contents mcp.ResourceContents) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{contents}}
}

package apps_test

import (
	"fmt"

	"github.com/ferrymcp/ferry/ext/apps"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

func ExampleLink() {
	srv := server.New(mcp.Implementation{Name: "weather", Version: "1.0.0"}, nil)
	apps.AddPage(srv, mcp.Resource{URI: "ui://weather/chart", Name: "chart"}, "<!doctype html>…",
		&apps.Settings{CSP: &apps.CSP{ConnectDomains: []string{"https://api.example.com"}}})
	tool := apps.Link(mcp.Tool{Name: "forecast", Description: "The weather of tomorrow"},
		apps.Tool{ResourceURI: "ui://weather/chart"})
	fmt.Println(string(tool.Meta["ui"]))
	// Output: {"resourceUri":"ui://weather/chart"}
}

func ExamplePage_ContentSecurityPolicy() {
	page := &apps.Page{Settings: apps.Settings{CSP: &apps.CSP{ConnectDomains: []string{"https://api.example.com"}}}}
	fmt.Println(page.ContentSecurityPolicy(nil))
	// Output: default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; connect-src https://api.example.com; img-src 'self' data:; font-src 'self'; media-src 'self' data:; frame-src 'none'; object-src 'none'; base-uri 'self'
}

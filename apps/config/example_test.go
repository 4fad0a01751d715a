package config_test

import (
	"fmt"

	"github.com/ferrymcp/ferry/apps/config"
)

func ExampleParse() {
	cfg, warnings, err := config.Parse("mcp.json", []byte(`{
		// Comments and trailing commas are fine.
		"mcpServers": {
			"docs": {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${DOCS_KEY:-none}"}},
			"files": {"command": "files", "args": ["."], "colour": "blue"},
		},
	}`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cfg)
	for _, w := range warnings {
		fmt.Println(w)
	}
	// Output:
	// mcp.json:
	//   docs: http https://example.com/mcp, headers [Authorization]
	//   files: stdio files, 1 arguments
	// mcp.json:5:49: server "files": unknown member "colour" is ignored
}

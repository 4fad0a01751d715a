package archtest_test

import "github.com/ferrymcp/ferry/internal/archtest"

// imports is the layer table of ARCHITECTURE.md. The first rule that names a
// package counts. Rules may stand here before their package does.
var imports = []archtest.Rule{
	// What everything is made of: bytes, messages, stored values.
	{Package: "internal/json", Layer: 0},
	{Package: "jsonrpc", Layer: 0, Also: []string{"internal/json"}},
	{Package: "state", Layer: 0},

	// The protocol's data, and nothing that moves it.
	{Package: "mcp", Layer: 1, Below: 1},

	// The parts that know one thing each: a carrier, a revision, a library.
	{Package: "transport", Layer: 2, Below: 2},
	{Package: "internal/revision", Layer: 2, Below: 2},
	{Package: "internal/schema", Layer: 2, Below: 2},
	{Package: "internal/httpwire", Layer: 2, Below: 2},
	{Package: "internal/oauthwire", Layer: 2, Below: 2, Also: []string{"internal/httpwire"}},
	{Package: "internal/uritemplate", Layer: 2, Below: 2},
	{Package: "internal/dpop", Layer: 2, Below: 2},
	{Package: "internal/admission", Layer: 2, Below: 2},
	{Package: "state/...", Layer: 2, Below: 2},
	{Package: "netguard", Layer: 2, Below: 2},

	// The two ends. They never import each other: same layer.
	{Package: "server", Layer: 3, Below: 3},
	{Package: "client", Layer: 3, Below: 3},

	// HTTP, and what is built beside or on the two ends.
	{Package: "httpserver/legacysse", Layer: 4, Below: 3, Also: []string{"server", "httpserver/internal/..."}},
	{Package: "httpserver/...", Layer: 4, Below: 3, Also: []string{"server", "httpserver/..."}},
	{Package: "httpclient/...", Layer: 4, Below: 3, Also: []string{"httpclient/..."}},
	{Package: "auth/authserver", Layer: 4, Below: 3, Also: []string{"auth"}},
	{Package: "auth/oauth", Layer: 4, Below: 3},
	{Package: "auth", Layer: 4, Below: 3, Also: []string{"server"}},
	{Package: "ext/...", Layer: 4, Below: 2, Also: []string{"server", "client"}},

	// What users build with, made of public packages as their own code would be.
	{Package: "host/...", Layer: 5, Public: true, Also: []string{
		"jsonrpc", "mcp", "transport", "client", "httpclient", "host/...",
	}},
	{Package: "mcptest/...", Layer: 5, Public: true, Below: 5},
	{Package: "examples/...", Layer: 5, Public: true, Below: 6},
	{Package: "contrib/...", Layer: 5, Public: true, Below: 6},

	// Programs. They are modules of their own and see what any user sees.
	{Package: "apps/...", Layer: 6, Public: true, Below: 6, Also: []string{"apps/..."}},
	{Package: "bench/...", Layer: 6, Public: true, Below: 6, Also: []string{"bench/..."}},
	{Package: "interop/...", Layer: 6, Public: true, Below: 6, Also: []string{"interop/..."}},

	// Helpers of tests, which nothing but tests imports.
	{Package: "internal/archtest", Layer: 9},
	{Package: "internal/trace/...", Layer: 9, Also: []string{"internal/trace"}},
	{Package: "internal/transcript", Layer: 9, Below: 5},
}

var denies = []archtest.Deny{
	{
		Packages: []string{
			"jsonrpc", "mcp", "transport", "server", "client",
			"internal/json", "internal/revision", "internal/schema", "netguard",
		},
		Import: "net/http",
		Why: "a server on stdio or in a browser must not carry an HTTP stack: " +
			"HTTP belongs in httpserver and httpclient",
	},
}

// systems are the ones whose imports are followed: the three differ in the files
// they build.
var systems = []string{"linux", "darwin", "windows"}

var budget = archtest.Budget{
	FileLines:     500,
	FunctionLines: 70,
	Complexity:    15,
	Names:         map[string]int{"mcp": 230, "server": 60, "client": 50},
	OtherNames:    30,
}

// revisions are the names that only revisionHome may spell out.
var revisions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

const revisionHome = "internal/revision"

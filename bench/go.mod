module github.com/ferrymcp/ferry/bench

go 1.26.0

require (
	github.com/ferrymcp/ferry v0.0.0
	github.com/mark3labs/mcp-go v1.2.1
	github.com/modelcontextprotocol/go-sdk v1.8.0
)

replace github.com/ferrymcp/ferry => ..

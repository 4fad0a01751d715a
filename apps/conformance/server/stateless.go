package main

import (
	"context"
	"encoding/json"

	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// addStatelessTools adds what the suite asks of stateless servers: tools that
// depend on what a request says of its client, and tools that change lists.
func addStatelessTools(srv *server.Server) {
	addText(srv, "test_missing_capability", "Needs a client with sampling", needSampling)
	addText(srv, "test_logging_tool", "Sends a log message", func(ctx context.Context, c *server.Call) (string, error) {
		return "Logged", c.Log(ctx, mcp.LevelInfo, "conformance", "This is a log message")
	})
	addText(srv, "test_trigger_tool_change", "Changes the list of tools", func(context.Context, *server.Call) (string, error) {
		const name = "test_dynamic_tool"
		addContent(srv, name, "Comes and goes", mcp.Text("Here"))
		srv.RemoveTools(name)
		return "The list of tools has changed", nil
	})
	addText(srv, "test_trigger_prompt_change", "Changes the list of prompts", func(context.Context, *server.Call) (string, error) {
		const name = "test_dynamic_prompt"
		addPrompt(srv, mcp.Prompt{Name: name, Description: "Comes and goes"}, func(map[string]string) []mcp.Content {
			return []mcp.Content{mcp.Text("Here")}
		})
		srv.RemovePrompts(name)
		return "The list of prompts has changed", nil
	})
}

// addHeaderTool adds a tool with an argument that HTTP repeats in a header.
func addHeaderTool(srv *server.Server) {
	server.AddTool(srv, mcp.Tool{
		Name:        "test_header_tool",
		Description: "Takes a region, which requests repeat in a header",
		InputSchema: json.RawMessage(`{
			"type": "object",
			"properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
			"required": ["region"]
		}`),
	}, func(_ context.Context, _ *server.Call, in struct {
		Region string `json:"region"`
	},
	) (string, error) {
		return "Region: " + in.Region, nil
	})
}

func needSampling(_ context.Context, c *server.Call) (string, error) {
	if c.ClientCapabilities().Sampling == nil {
		need := mcp.ClientCapabilities{Sampling: &mcp.SamplingCapability{}}
		return "", &mcp.MissingCapabilityError{Required: need}
	}
	return "The client supports sampling", nil
}

// schema2020 uses the keywords that the suite wants to find again in lists.
const schema2020 = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"type": "object",
	"$defs": {
		"address": {
			"$anchor": "addressDef",
			"type": "object",
			"properties": {"street": {"type": "string"}, "city": {"type": "string"}}
		}
	},
	"properties": {
		"name": {"type": "string"},
		"address": {"$ref": "#/$defs/address"},
		"contactMethod": {"type": "string", "enum": ["phone", "email"]},
		"phone": {"type": "string"},
		"email": {"type": "string"}
	},
	"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
	"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
	"then": {"required": ["phone"]},
	"else": {"required": ["email"]},
	"additionalProperties": false
}`

func addSchemaTool(srv *server.Server) {
	server.AddTool(srv, mcp.Tool{
		Name:        "json_schema_2020_12_tool",
		Description: "Has an input schema with keywords of JSON Schema 2020-12",
		InputSchema: json.RawMessage(schema2020),
	}, func(_ context.Context, c *server.Call, _ nothing) (string, error) {
		return "Arguments: " + string(c.Arguments()), nil
	})
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
)

// A player does what a scenario wants of a client.
type player func(ctx context.Context, sess *client.Session) error

// scenario returns the player of a scenario. Most only want the tools listed and
// called, and look at how that is done.
func scenario(name string) player {
	switch name {
	case "initialize", "json-schema-ref-no-deref":
		return listTools
	case "tools_call":
		return addNumbers
	case "http-standard-headers":
		return visitAll
	case "http-custom-headers":
		return callAsTold
	case "json-schema-2020-12-preservation":
		return echoSchema
	case "sep-2640-client-no-prefetch":
		return listSkills
	case "sep-2640-client-verify-digest", "sep-2640-client-verify-size", "sep-2640-client-verify-frontmatter":
		return loadSkills
	default:
		return callTools
	}
}

func listTools(ctx context.Context, sess *client.Session) error {
	_, err := sess.ListTools(ctx, nil)
	return err
}

// call calls a tool, which must not fail.
func call(ctx context.Context, sess *client.Session, name string, arguments any) (*mcp.CallToolResult, error) {
	raw, err := json.Marshal(arguments)
	if err != nil {
		return nil, err
	}
	result, err := sess.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: raw}, nil)
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", name, err)
	}
	if result.IsError {
		return nil, fmt.Errorf("call %s: the tool failed: %v", name, result.Content)
	}
	return result, nil
}

// callTools calls every tool with arguments that fit its schema.
func callTools(ctx context.Context, sess *client.Session) error {
	for tool, err := range sess.Tools(ctx) {
		if err != nil {
			return fmt.Errorf("list tools: %w", err)
		}
		arguments, err := sample(tool.InputSchema)
		if err != nil {
			return fmt.Errorf("input schema of %s: %w", tool.Name, err)
		}
		if _, err := call(ctx, sess, tool.Name, arguments); err != nil {
			return err
		}
	}
	return nil
}

func addNumbers(ctx context.Context, sess *client.Session) error {
	if err := listTools(ctx, sess); err != nil {
		return err
	}
	result, err := call(ctx, sess, "add_numbers", map[string]int{"a": 5, "b": 3})
	if err != nil {
		return err
	}
	if len(result.Content) != 1 || !strings.Contains(result.Content[0].Text, "8") {
		return fmt.Errorf("add_numbers answered %v for 5 and 3", result.Content)
	}
	return nil
}

// visitAll uses everything that the server has.
func visitAll(ctx context.Context, sess *client.Session) error {
	if err := callTools(ctx, sess); err != nil {
		return err
	}
	for resource, err := range sess.Resources(ctx) {
		if err != nil {
			return fmt.Errorf("list resources: %w", err)
		}
		if _, err := sess.ReadResource(ctx, &mcp.ReadResourceParams{URI: resource.URI}, nil); err != nil {
			return fmt.Errorf("read %s: %w", resource.URI, err)
		}
	}
	for prompt, err := range sess.Prompts(ctx) {
		if err != nil {
			return fmt.Errorf("list prompts: %w", err)
		}
		arguments := map[string]string{}
		for _, argument := range prompt.Arguments {
			arguments[argument.Name] = sampleText
		}
		if _, err := sess.GetPrompt(ctx, &mcp.GetPromptParams{Name: prompt.Name, Arguments: arguments}, nil); err != nil {
			return fmt.Errorf("get %s: %w", prompt.Name, err)
		}
	}
	return nil
}

// callAsTold makes the calls that the suite's context lists.
func callAsTold(ctx context.Context, sess *client.Session) error {
	var told struct {
		ToolCalls []struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"toolCalls"`
	}
	if err := json.Unmarshal([]byte(os.Getenv(contextVariable)), &told); err != nil {
		return fmt.Errorf("read %s: %w", contextVariable, err)
	}
	if err := listTools(ctx, sess); err != nil {
		return err
	}
	for _, c := range told.ToolCalls {
		if _, err := call(ctx, sess, c.Name, c.Arguments); err != nil {
			return err
		}
	}
	return nil
}

// echoSchema sends the schema of one tool to another, as it came.
func echoSchema(ctx context.Context, sess *client.Session) error {
	const from, to = "json_schema_2020_12_tool", "json_schema_echo"
	for tool, err := range sess.Tools(ctx) {
		if err != nil {
			return fmt.Errorf("list tools: %w", err)
		}
		if tool.Name == from {
			_, err := call(ctx, sess, to, map[string]json.RawMessage{"schema": tool.InputSchema})
			return err
		}
	}
	return fmt.Errorf("the server has no tool %s", from)
}

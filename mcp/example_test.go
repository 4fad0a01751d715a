package mcp_test

import (
	"encoding/json"
	"fmt"

	"github.com/ferrymcp/ferry/mcp"
)

func ExampleContent() {
	blocks := []mcp.Content{
		mcp.Text("A red dot:"),
		mcp.Image([]byte{0x89, 'P', 'N', 'G'}, "image/png"),
		mcp.Link(mcp.Resource{URI: "file:///dot.png", Name: "dot.png"}),
	}
	for _, block := range blocks {
		data, err := json.Marshal(block)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(string(data))
	}
	// Output:
	// {"type":"text","text":"A red dot:"}
	// {"type":"image","data":"iVBORw==","mimeType":"image/png"}
	// {"type":"resource_link","uri":"file:///dot.png","name":"dot.png"}
}

func ExampleContent_unknown() {
	var block mcp.Content
	if err := json.Unmarshal([]byte(`{"type":"hologram","angle":30}`), &block); err != nil {
		fmt.Println(err)
		return
	}
	switch block.Type {
	case mcp.TypeText:
		fmt.Println(block.Text)
	default:
		fmt.Println("cannot show", string(block.Raw))
	}
	// Output: cannot show {"type":"hologram","angle":30}
}

func ExampleFormSchema() {
	form := mcp.FormSchema{
		Fields: []mcp.FormField{
			{Name: "name", Type: "string", Title: "Your name"},
			{Name: "age", Type: "integer", Minimum: mcp.Ptr(18.0)},
		},
		Required: []string{"name"},
	}
	data, err := json.Marshal(form)
	fmt.Println(string(data), err)
	// Output: {"type":"object","properties":{"name":{"type":"string","title":"Your name"},"age":{"type":"integer","minimum":18}},"required":["name"]} <nil>
}

func ExampleInputRequired() {
	result := mcp.InputRequired(map[string]mcp.InputRequest{
		"folders": mcp.RootsInput(),
	}, "signed state")
	data, err := json.Marshal(result)
	fmt.Println(string(data), err)
	// Output: {"resultType":"input_required","inputRequests":{"folders":{"method":"roots/list","params":{}}},"requestState":"signed state"} <nil>
}

func ExampleMeta() {
	var meta mcp.Meta
	if err := meta.Set("example.com/trace", []int{1, 2}); err != nil {
		fmt.Println(err)
		return
	}
	var trace []int
	found, err := meta.Get("example.com/trace", &trace)
	fmt.Println(trace, found, err)
	// Output: [1 2] true <nil>
}

func ExampleLoggingLevel_AtLeast() {
	fmt.Println(mcp.LevelError.AtLeast(mcp.LevelWarning))
	fmt.Println(mcp.LevelDebug.AtLeast(mcp.LevelWarning))
	// Output:
	// true
	// false
}

package jsonrpc_test

import (
	"errors"
	"fmt"
	"os"

	"github.com/ferrymcp/ferry/jsonrpc"
)

func ExampleDecode() {
	m, err := jsonrpc.Decode([]byte(`{"jsonrpc":"2.0","id":"a-1","method":"tools/call","params":{"name":"add"}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Kind(), m.ID, m.Method, string(m.Params))
	// Output: request "a-1" tools/call {"name":"add"}
}

// The id of a message with a fault is known when it could be read, so the
// error can be answered.
func ExampleDecode_fault() {
	m, err := jsonrpc.Decode([]byte(`{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":1,"a":2}}`))
	if wire, ok := errors.AsType[*jsonrpc.Error](err); ok {
		buf := jsonrpc.GetBuffer()
		defer jsonrpc.PutBuffer(buf)
		jsonrpc.WriteError(buf, m.ID, wire)
		fmt.Println(buf)
	}
	// Output: {"jsonrpc":"2.0","id":7,"error":{"code":-32700,"message":"parse error: duplicate name \"a\" at byte 53"}}
}

func ExampleDecodeBatch() {
	frame := []byte(`[{"jsonrpc":"2.0","method":"notifications/initialized"}, 5]`)
	if !jsonrpc.IsBatch(frame) {
		return
	}
	items, err := jsonrpc.DecodeBatch(frame)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, item := range items {
		fmt.Println(item.Method, item.Err)
	}
	// Output:
	// notifications/initialized <nil>
	//  invalid request: message must be an object at byte 57 (-32600)
}

func ExampleWriteRequest() {
	buf := jsonrpc.GetBuffer()
	defer jsonrpc.PutBuffer(buf)
	params := map[string]any{"name": "add", "arguments": map[string]int{"a": 1, "b": 2}}
	if err := jsonrpc.WriteRequest(buf, jsonrpc.IntID(1), "tools/call", params); err != nil {
		fmt.Println(err)
		return
	}
	_, _ = buf.WriteTo(os.Stdout)
	// Output: {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"a":1,"b":2},"name":"add"}}
}

func ExampleWriteResult() {
	buf := jsonrpc.GetBuffer()
	defer jsonrpc.PutBuffer(buf)
	if err := jsonrpc.WriteResult(buf, jsonrpc.StringID("q"), map[string]int{"sum": 3}); err != nil {
		fmt.Println(err)
		return
	}
	_, _ = buf.WriteTo(os.Stdout)
	// Output: {"jsonrpc":"2.0","id":"q","result":{"sum":3}}
}

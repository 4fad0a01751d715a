package server_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

// TestCodesOfRevisions has handlers fail with codes of all kinds. Stateless
// callers get none that their revision reserves or has retired.
func TestCodesOfRevisions(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "BASE-ERRCODE-RESERVED-NO-EMIT", "BASE-ERRCODE-RETIRED", "BASE-ERRCODE-DEFINED", "BASE-ERR-SAME-ID")
	srv := newServer(t, nil)
	tests := map[string]struct {
		err               error
		stateless, legacy int
	}{
		"x/own":      {jsonrpc.Errorf(-31000, "no"), -31000, -31000},
		"x/app":      {jsonrpc.Errorf(7, "no"), 7, 7},
		"x/reserved": {jsonrpc.Errorf(-32050, "no"), jsonrpc.CodeInternal, -32050},
		"x/last":     {jsonrpc.Errorf(-32099, "no"), jsonrpc.CodeInternal, -32099},
		"x/url":      {jsonrpc.Errorf(-32042, "no"), jsonrpc.CodeInternal, -32042},
		"x/old":      {jsonrpc.Errorf(-32002, "no"), jsonrpc.CodeInvalidParams, -32002},
		"x/missing":  {&mcp.ResourceNotFoundError{URI: "x:"}, jsonrpc.CodeInvalidParams, -32002},
		"x/cap":      {&mcp.MissingCapabilityError{}, mcp.CodeMissingClientCapability, jsonrpc.CodeInvalidRequest},
		"x/unknown":  {context.Canceled, jsonrpc.CodeInternal, jsonrpc.CodeInternal},
	}
	for method, tt := range tests {
		srv.Handle(method, func(context.Context, *server.Call) (any, error) { return nil, tt.err })
	}
	stateless, legacy := talk(t, srv), talk(t, srv)
	legacy.open("2025-11-25")
	for method, tt := range tests {
		code(t, stateless.askModern(method, ""), tt.stateless)
		code(t, legacy.ask(method, ""), tt.legacy)
	}
	if e := tests["x/reserved"].err.(*jsonrpc.Error); e.Code != -32050 {
		t.Error("the handler's error was changed")
	}
}

// TestEveryResultHasAType asks for one result of every kind.
func TestEveryResultHasAType(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "BASE-RESULTTYPE-REQUIRED", "BASE-RESULTTYPE-VALUES", "BASE-RESULT-SAME-ID", "BASE-RESP-SAME-ID", "BASE-META-SERVER-INFO")
	srv := newServer(t, nil)
	srv.AddResource(mcp.Resource{URI: "r:1", Name: "r"}, contents(""))
	srv.AddPrompt(mcp.Prompt{Name: "p"}, func(context.Context, *server.Call, map[string]string) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{}, nil
	})
	srv.Handle("x/nothing", func(context.Context, *server.Call) (any, error) { return nil, nil })
	srv.Handle("x/raw", func(context.Context, *server.Call) (any, error) { return json.RawMessage(`{"a":1}`), nil })
	srv.Handle("x/foreign", func(context.Context, *server.Call) (any, error) { return map[string]int{"a": 1}, nil })
	srv.AddRawTool(mcp.Tool{Name: "asks"}, func(context.Context, *server.Call) (any, error) { return mcp.InputRequired(nil, "state"), nil })
	d := talk(t, srv)
	for method, params := range map[string]string{
		"server/discover": "", "tools/list": "", "prompts/list": "", "resources/list": "", "resources/templates/list": "",
		"tools/call": `"name":"add","arguments":{"a":1,"b":2}`, "prompts/get": `"name":"p"`, "resources/read": `"uri":"r:1"`,
		"x/nothing": "", "x/raw": "", "x/foreign": "",
	} {
		m := d.askModern(method, params)
		if got := result[mcp.Result](t, m); got.ResultType != mcp.ResultComplete {
			t.Errorf("%s: result of type %q: %s", method, got.ResultType, m.Result)
		} else if !strings.HasPrefix(method, "x/") && got.Meta[mcp.MetaServerInfo] == nil {
			t.Errorf("%s: the result does not say who answers: %s", method, m.Result)
		}
	}
	if got := result[mcp.Result](t, d.askModern("tools/call", `"name":"asks"`)); got.ResultType != mcp.ResultInputRequired {
		t.Errorf("a result that asks for input is of type %q", got.ResultType)
	}
}

package client_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
)

const (
	number = `{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}`
	text   = `{"type":"object","properties":{"n":{"type":"string"}},"required":["n"]}`
)

func TestOutputIsChecked(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "TOOL-OUTPUTSCHEMA-CLIENT-VALIDATE", "TOOL-STRUCTURED-ANY-JSON")
	tests := []struct {
		name   string
		before string // the schema when the tools were listed
		after  string // when they are listed again
		result string
		trust  bool
		want   string
		lists  int
	}{
		{name: "fits", before: number, result: `"structuredContent":{"n":1}`, lists: 1},
		{name: "does not fit", before: number, after: number, result: `"structuredContent":{"n":"x"}`, want: "does not fit", lists: 2},
		{name: "is missing", before: number, after: number, result: `"content":[]`, want: "no structured content", lists: 2},
		{name: "a failure", before: number, result: `"content":[],"isError":true`, lists: 1},
		{name: "no schema", result: `"content":[]`, lists: 1},
		{name: "no schema any more", before: number, result: `"content":[]`, lists: 2},
		{name: "another schema", before: number, after: text, result: `"structuredContent":{"n":"x"}`, lists: 2},
		{name: "a null that fits", before: `{"type":"null"}`, result: `"content":[],"structuredContent":null`, lists: 1},
		{name: "a list that fits", before: `{"type":"array"}`, result: `"structuredContent":[]`, lists: 1},
		{name: "not a schema", before: `{"type":7}`, result: `"content":[]`, lists: 1},
		{name: "trusted", before: number, result: `"content":[]`, trust: true, lists: 1},
	}
	for _, tt := range tests {
		for _, revision := range []string{r4, r5} {
			bubble(t, tt.name+" "+revision, func(t *testing.T) {
				lists := 0
				sess := connect(t, fake(t, answering(revision, func(p *peer, m jsonrpc.Message) {
					if m.Method == mcp.MethodToolsCall {
						p.result(m, `{`+tt.result+`}`)
						return
					}
					schema := tt.before
					if lists++; lists > 1 {
						schema = tt.after
					}
					if schema != "" {
						schema = `,"outputSchema":` + schema
					}
					p.result(m, fmt.Sprintf(`{"tools":[{"name":"t","inputSchema":{"type":"object"}%s}]}`, schema))
				})), &client.Options{TrustOutput: tt.trust})
				if _, err := sess.ListTools(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				_, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "t"}, nil)
				e, ok := errors.AsType[*client.ProtocolError](err)
				if ok != (tt.want != "") || ok && !strings.Contains(e.Problem, tt.want) || !ok && err != nil {
					t.Errorf("got %v, want %q", err, tt.want)
				}
				if lists != tt.lists {
					t.Errorf("the tools were listed %d times, want %d", lists, tt.lists)
				}
			})
		}
	}
}

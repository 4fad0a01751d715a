package client_test

import (
	"encoding/json"
	"testing"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// FuzzQuestions calls a server whose first result may ask for anything: the call
// ends, and what it is repeated with is an object.
func FuzzQuestions(f *testing.F) {
	for _, q := range questions {
		f.Add([]byte(`{"resultType":"input_required","requestState":"s","inputRequests":{"k":{"method":"` + q.method + `","params":` + q.params + `}}}`))
	}
	f.Add([]byte(`{"resultType":"input_required","requestState":"\ud800","inputRequests":null}`))
	f.Add([]byte(`{"resultType":"input_required","inputRequests":{"":{}}}`))
	f.Fuzz(func(t *testing.T, result []byte) {
		if !json.Valid(result) {
			return
		}
		calls := 0
		sess := connect(t, fake(t, answering(r5, func(p *peer, m jsonrpc.Message) {
			if m.Method != mcp.MethodToolsCall {
				return
			}
			if calls++; calls > 1 {
				var params map[string]json.RawMessage
				if err := json.Unmarshal(m.Params, &params); err != nil || string(params["name"]) != `"a"` {
					p.t.Errorf("repeated with %s: %v", m.Params, err)
				}
				result = []byte(done)
			}
			p.result(m, string(result))
		})), able())
		_, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "a"}, nil)
		if err == nil && calls > 2 {
			t.Errorf("%d calls", calls)
		}
	})
}

// Command floor does the job of the measured servers without an SDK: a loop or
// an HTTP handler around encoding/json and a few structs. It neither validates
// nor cancels; it is what the SDKs are compared with, not a server to use.
package main

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/ferrymcp/ferry/bench/program"
)

func main() {
	s := program.Parse()
	srv := &floor{
		extra: s.Tools + s.Typed, stateless: s.Stateless,
		sessions: map[string]*stream{}, streams: map[*stream]bool{},
	}
	s.Run(func() error {
		if s.Stdio {
			return srv.serveStdio()
		}
		return s.ListenAndServe(srv)
	})
}

type floor struct {
	extra     int
	stateless bool

	mu       sync.Mutex
	poked    bool
	sessions map[string]*stream // nil without a stream
	streams  map[*stream]bool
}

type request struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  params          `json:"params"`
}

type params struct {
	Name            string          `json:"name"`
	Arguments       json.RawMessage `json:"arguments"`
	ProtocolVersion string          `json:"protocolVersion"`
	Meta            meta            `json:"_meta"`
}

type meta struct {
	ProgressToken json.RawMessage `json:"progressToken"`
	Version       string          `json:"io.modelcontextprotocol/protocolVersion"`
	ClientInfo    *implementation `json:"io.modelcontextprotocol/clientInfo"`
	Capabilities  map[string]any  `json:"io.modelcontextprotocol/clientCapabilities"`
}

type implementation struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type response struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *wireError      `json:"error,omitempty"`
}

type wireError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

type notification struct {
	JSONRPC string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  any    `json:"params,omitempty"`
}

type progressParams struct {
	ProgressToken json.RawMessage `json:"progressToken"`
	Progress      float64         `json:"progress"`
	Total         float64         `json:"total"`
}

type callResult struct {
	ResultType string      `json:"resultType,omitempty"`
	Meta       *resultMeta `json:"_meta,omitempty"`
	Content    []content   `json:"content"`
	Structured any         `json:"structuredContent,omitempty"`
}

type resultMeta struct {
	ServerInfo implementation `json:"io.modelcontextprotocol/serverInfo"`
}

type content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

var self = implementation{Name: "bench-floor", Version: "1.0.0"}

// answer handles a request; notify sends what comes before the result.
func (f *floor) answer(rq *request, notify func(any) error) *response {
	rs := &response{JSONRPC: "2.0", ID: rq.ID}
	switch rq.Method {
	case "initialize":
		rs.Result = map[string]any{
			"protocolVersion": rq.Params.ProtocolVersion,
			"serverInfo":      self,
			"capabilities":    map[string]any{"tools": map[string]bool{"listChanged": true}},
		}
	case "ping":
		rs.Result = struct{}{}
	case "tools/list":
		rs.Result = map[string]any{"tools": f.tools()}
	case "tools/call":
		result, err := f.call(&rq.Params, notify)
		if err != nil {
			rs.Error = &wireError{Code: -32602, Message: err.Error()}
			break
		}
		if rq.Params.Meta.Version != "" {
			result.ResultType, result.Meta = "complete", &resultMeta{self}
		}
		rs.Result = result
	default:
		rs.Error = &wireError{Code: -32601, Message: "method not found"}
	}
	return rs
}

func (f *floor) call(p *params, notify func(any) error) (*callResult, error) {
	switch p.Name {
	case "echo":
		var in program.Echo
		if err := json.Unmarshal(p.Arguments, &in); err != nil {
			return nil, err
		}
		return said(in.Text), nil
	case "add":
		var in program.Add
		if err := json.Unmarshal(p.Arguments, &in); err != nil {
			return nil, err
		}
		sum := program.Sum{Sum: in.A + in.B}
		text, err := json.Marshal(sum)
		if err != nil {
			return nil, err
		}
		result := said(string(text))
		result.Structured = sum
		return result, nil
	case "progress":
		return progress(p, notify)
	case "poke":
		f.mu.Lock()
		f.poked = !f.poked
		f.mu.Unlock()
		f.changed()
		return said("done"), nil
	case program.Typical, program.Hard:
		var in map[string]any
		if err := json.Unmarshal(p.Arguments, &in); err != nil {
			return nil, err
		}
		return said("fits"), nil
	}
	return nil, fmt.Errorf("no tool %q", p.Name)
}

func progress(p *params, notify func(any) error) (*callResult, error) {
	var in program.Progress
	if err := json.Unmarshal(p.Arguments, &in); err != nil {
		return nil, err
	}
	for i := range in.N {
		err := notify(&notification{JSONRPC: "2.0", Method: "notifications/progress", Params: &progressParams{
			ProgressToken: p.Meta.ProgressToken, Progress: float64(i + 1), Total: float64(in.N),
		}})
		if err != nil {
			return nil, err
		}
	}
	return said("done"), nil
}

func said(text string) *callResult {
	return &callResult{Content: []content{{Type: "text", Text: text}}}
}

// tools makes the list anew, as simple servers do.
func (f *floor) tools() []tool {
	all := []tool{
		{"echo", program.EchoDescription, program.ObjectSchemas["echo"]},
		{"add", program.AddDescription, program.ObjectSchemas["add"]},
		{"progress", program.ProgressDescription, program.ObjectSchemas["progress"]},
		{"poke", program.PokeDescription, program.ObjectSchemas["poke"]},
	}
	f.mu.Lock()
	if f.poked {
		all = append(all, tool{program.Poked, "", program.ObjectSchemas["poke"]})
	}
	f.mu.Unlock()
	for i := range f.extra {
		all = append(all, tool{program.ToolName(i), program.ToolDescription(i), program.ToolSchema})
	}
	return all
}

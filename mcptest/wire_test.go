package mcptest_test

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/ferrymcp/ferry/transport"
)

// revisions are the names of all, oldest first.
var revisions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

// rough tells that the carrier may give responses twice and cut frames off; then
// no test is parallel.
var rough bool

// A wire follows the messages of one session and notes which of the rules for
// all messages one breaks. Both ends are ours, so both are held to them.
type wire struct {
	revision string
	schema   *official // or nil

	mu     sync.Mutex
	open   [2]map[string]string // the requests without an answer, by id, with their method; by sender
	used   [2]map[string]string // all requests
	steps  map[string]float64   // the progress of the requests that asked for it, by token
	broken []string
}

// watchAll checks all messages of all grids. What is wrong fails the test that
// the session belongs to.
func watchAll(t *testing.T, revision string) func(transport.Frame) {
	schema, err := officialSchema(revision)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{
		revision: revision, schema: schema,
		open: [2]map[string]string{{}, {}}, used: [2]map[string]string{{}, {}}, steps: map[string]float64{},
	}
	t.Cleanup(func() { // after the session was closed
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, text := range w.broken {
			t.Error(text)
		}
	})
	return w.see
}

func (w *wire) see(f transport.Frame) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if strings.HasPrefix(strings.TrimSpace(string(f.Data)), "[") {
		var batch []json.RawMessage
		if err := json.Unmarshal(f.Data, &batch); err != nil || w.revision != "2025-03-26" {
			w.breaks(f, "an array is no message of this revision")
		}
		if f.Direction == transport.Sent {
			w.breaks(f, "our clients send no batches")
		}
		for _, data := range batch {
			w.message(transport.Frame{Direction: f.Direction, Data: data})
		}
		return
	}
	w.message(f)
}

func (w *wire) breaks(f transport.Frame, format string, args ...any) {
	w.broken = append(w.broken, fmt.Sprintf("%s %.400s: %s", []string{"sent", "received"}[f.Direction], f.Data, fmt.Sprintf(format, args...)))
}

// An envelope is what all messages share.
type envelope struct {
	JSONRPC string           `json:"jsonrpc"`
	ID      *json.RawMessage `json:"id"`
	Method  *string          `json:"method"`
	Params  json.RawMessage  `json:"params"`
	Result  json.RawMessage  `json:"result"`
	Error   *struct {
		Code json.Number     `json:"code"`
		Data json.RawMessage `json:"data"`
	} `json:"error"`
}

func (w *wire) message(f transport.Frame) {
	var m envelope
	if err := json.Unmarshal(f.Data, &m); err != nil {
		if !rough {
			w.breaks(f, "%v", err)
		}
		return
	}
	if m.JSONRPC != "2.0" {
		w.breaks(f, "it is no JSON-RPC 2.0")
	}
	switch {
	case m.Method != nil && m.ID != nil:
		w.request(f, *m.Method, string(*m.ID))
		w.params(f, *m.Method, string(*m.ID), m.Params)
	case m.Method != nil:
		if !strings.HasPrefix(*m.Method, "notifications/") {
			w.breaks(f, "a request has no id")
		}
		w.fits(f, w.definition(*m.Method), f.Data)
		w.notification(f, *m.Method, m.Params)
	case m.Error != nil:
		w.failure(f, m)
	default:
		w.result(f, m)
	}
}

// definition is that of a message with a method; empty for methods that are not
// the protocol's.
func (w *wire) definition(method string) string {
	if w.schema == nil {
		return ""
	}
	return w.schema.methods[method]
}

// large is what is not checked against a schema: it takes long, and holds more
// of the same.
const large = 1 << 20

// fits checks a value against a definition of the official schema.
func (w *wire) fits(f transport.Frame, definition string, value json.RawMessage) {
	if w.schema == nil || definition == "" || len(value) > large {
		return
	}
	if err := w.schema.check(definition, value); err != nil {
		w.breaks(f, "does not fit %s: %v", definition, err)
	}
}

func (w *wire) request(f transport.Frame, method, id string) {
	if w.stateless() && f.Direction == transport.Received {
		w.breaks(f, "a server sends no requests")
	}
	if c := id[0]; c != '"' && c != '-' && (c < '0' || c > '9') || c != '"' && strings.ContainsAny(id, ".eE") {
		w.breaks(f, "the id is neither a string nor an integer")
	}
	sender := f.Direction
	if w.used[sender][id] != "" {
		w.breaks(f, "the id was used before")
	}
	w.open[sender][id], w.used[sender][id] = method, method
	w.fits(f, "JSONRPCRequest", f.Data)
	w.fits(f, w.definition(method), f.Data)
}

func (w *wire) stateless() bool { return w.revision >= "2026-07-28" }

// answered returns the method of the request that a response is for.
func (w *wire) answered(f transport.Frame, m envelope) string {
	if w.stateless() && f.Direction == transport.Sent {
		w.breaks(f, "a client sends no responses")
	}
	if m.ID == nil {
		return ""
	}
	sender := transport.Sent
	if f.Direction == transport.Sent {
		sender = transport.Received
	}
	id := string(*m.ID)
	method, there := w.open[sender][id]
	if !there && !(rough && w.used[sender][id] != "") {
		w.breaks(f, "it answers no request")
	}
	delete(w.open[sender], id)
	for token := range w.steps {
		if strings.HasPrefix(token, id+" ") {
			delete(w.steps, token) // no step may follow
		}
	}
	return method
}

func (w *wire) result(f transport.Frame, m envelope) {
	if m.ID == nil || m.Result == nil {
		w.breaks(f, "a response has an id, and a result or an error")
		return
	}
	method := w.answered(f, m)
	if w.schema != nil {
		w.fits(f, w.schema.envelope("result"), f.Data)
	}
	var r struct {
		ResultType *string
		Meta       map[string]json.RawMessage `json:"_meta"`
	}
	if err := json.Unmarshal(m.Result, &r); err != nil {
		w.breaks(f, "%v", err)
		return
	}
	switch {
	case !w.stateless() && r.ResultType != nil:
		w.breaks(f, "the revision has no resultType")
	case w.stateless() && r.ResultType == nil:
		w.breaks(f, "the resultType is missing")
		return
	case w.stateless() && (*r.ResultType != "complete" && *r.ResultType != "input_required"):
		w.breaks(f, "the resultType is unknown")
	case w.stateless() && r.Meta["io.modelcontextprotocol/serverInfo"] == nil:
		w.breaks(f, "the result does not name the server")
	}
	if w.stateless() && *r.ResultType == "input_required" {
		w.inputs(f, m.Result)
	}
	if w.schema == nil || method == "" {
		return
	}
	definition := w.schema.result(method)
	if r.ResultType != nil && *r.ResultType == "input_required" {
		definition = "InputRequiredResult"
	}
	w.fits(f, definition, m.Result)
}

// knownCodes are the error codes that we send in the stateless revision.
var knownCodes = map[string]bool{
	"-32700": true, "-32600": true, "-32601": true, "-32602": true, "-32603": true,
	"-32020": true, "-32021": true, "-32022": true,
}

func (w *wire) failure(f transport.Frame, m envelope) {
	w.answered(f, m)
	if w.schema != nil {
		w.fits(f, w.schema.envelope("error"), f.Data)
	}
	code := m.Error.Code.String()
	if strings.ContainsAny(code, ".eE") {
		w.breaks(f, "the code is no integer")
	}
	if w.stateless() && strings.HasPrefix(code, "-32") && !knownCodes[code] {
		w.breaks(f, "the revision has no such code")
	}
}

// A metaKey is a name in _meta: a prefix of labels, if any, and the name.
var metaKey = regexp.MustCompile(`^([A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?)*/)?([A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?)?$`)

// meta reads the _meta of parameters and checks its keys.
func (w *wire) meta(f transport.Frame, params json.RawMessage) map[string]json.RawMessage {
	var p struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	if len(params) > 0 && json.Unmarshal(params, &p) != nil {
		return nil
	}
	for key := range p.Meta {
		if !metaKey.MatchString(key) {
			w.breaks(f, "%q is no key for _meta", key)
		}
	}
	return p.Meta
}

// params looks at what a request carries.
func (w *wire) params(f transport.Frame, method, id string, params json.RawMessage) {
	meta := w.meta(f, params)
	if w.stateless() && len(params) > 0 {
		w.answers(f, params)
	}
	if w.stateless() && f.Direction == transport.Sent {
		var capabilities map[string]any
		if version := string(meta["io.modelcontextprotocol/protocolVersion"]); version != `"`+w.revision+`"` {
			w.breaks(f, "the revision it names is %s", version)
		}
		if json.Unmarshal(meta["io.modelcontextprotocol/clientCapabilities"], &capabilities) != nil || capabilities == nil {
			w.breaks(f, "it names no capabilities")
		}
	}
	var members map[string]json.RawMessage
	if method == "server/discover" && (json.Unmarshal(params, &members) != nil || len(members) != 1) {
		w.breaks(f, "it has parameters besides _meta")
	}
	token := string(meta["progressToken"])
	if token == "" || f.Direction != transport.Sent {
		return
	}
	for other := range w.steps {
		if _, busy, _ := strings.Cut(other, " "); busy == token {
			w.breaks(f, "the progress token is in use")
		}
	}
	w.steps[id+" "+token] = math.Inf(-1)
}

// notification looks at progress and cancellations.
func (w *wire) notification(f transport.Frame, method string, params json.RawMessage) {
	w.meta(f, params)
	var p struct {
		Token     json.RawMessage `json:"progressToken"`
		Progress  float64         `json:"progress"`
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	switch {
	case method == "notifications/progress" && f.Direction == transport.Received:
		w.step(f, string(p.Token), p.Progress)
	case method == "notifications/progress" && w.stateless():
		w.breaks(f, "a client sends no progress")
	case method == "notifications/cancelled" && !(w.stateless() && f.Direction == transport.Received):
		switch w.used[f.Direction][string(p.RequestID)] {
		case "":
			w.breaks(f, "its sender made no such request")
		case "initialize":
			w.breaks(f, "initialize cannot be cancelled")
		}
	case method == "notifications/cancelled" && w.used[transport.Sent][string(p.RequestID)] != "subscriptions/listen":
		w.breaks(f, "a server cancels nothing but subscriptions")
	}
}

func (w *wire) step(f transport.Frame, token string, progress float64) {
	for key, last := range w.steps {
		if _, asked, _ := strings.Cut(key, " "); asked != token {
			continue
		}
		if progress <= last {
			w.breaks(f, "progress was %v before", last)
		}
		w.steps[key] = progress
		return
	}
	w.breaks(f, "no request that is open asked for it")
}

// inputs looks at a result that asks the client for something: the requests in
// it are bare.
func (w *wire) inputs(f transport.Frame, result json.RawMessage) {
	var r struct {
		Requests map[string]map[string]json.RawMessage `json:"inputRequests"`
		State    *string                               `json:"requestState"`
	}
	if err := json.Unmarshal(result, &r); err != nil || r.Requests == nil && r.State == nil {
		w.breaks(f, "it asks for nothing (%v)", err)
	}
	for key, request := range r.Requests {
		for member := range request {
			if member != "method" && member != "params" {
				w.breaks(f, "request %q has a member %q", key, member)
			}
		}
		switch method := string(request["method"]); method {
		case `"elicitation/create"`, `"sampling/createMessage"`, `"roots/list"`:
			w.fits(f, map[string]string{
				`"elicitation/create"`: "ElicitRequest", `"sampling/createMessage"`: "CreateMessageRequest", `"roots/list"`: "ListRootsRequest",
			}[method], mustEncode(request))
		default:
			w.breaks(f, "request %q has the method %s", key, method)
		}
	}
}

// answers looks at what a client gives to such a result, which is bare as well.
func (w *wire) answers(f transport.Frame, params json.RawMessage) {
	var p struct {
		Responses map[string]map[string]json.RawMessage `json:"inputResponses"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		w.breaks(f, "%v", err)
	}
	for key, response := range p.Responses {
		kind := ""
		for member, definition := range map[string]string{"action": "ElicitResult", "model": "CreateMessageResult", "roots": "ListRootsResult"} {
			if response[member] != nil {
				kind = definition
			}
		}
		if kind == "" {
			w.breaks(f, "response %q is none", key)
		}
		w.fits(f, kind, mustEncode(response))
	}
}

func mustEncode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

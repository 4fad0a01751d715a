package program

import (
	"encoding/json"
	"fmt"
	"time"
)

// Descriptions of the tools that all servers have.
const (
	EchoDescription     = "Returns the text it is given."
	AddDescription      = "Adds two numbers."
	ProgressDescription = "Reports progress n times, then ends."
	PokeDescription     = "Changes the list of tools."
	// Poked is the tool that poke adds, and removes when it is there.
	Poked = "poked"
)

// Echo is the arguments of echo.
type Echo struct {
	Text string `json:"text"`
}

// Add is the arguments of add.
type Add struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

// Sum is the result of add.
type Sum struct {
	Sum float64 `json:"sum"`
}

// Progress is the arguments of progress.
type Progress struct {
	N int `json:"n"`
}

// Search is the arguments of the extra tools that have a type. Kind makes them
// different types, since one program does not have a thousand tools of one type,
// nor a thousand types.
type Search[Kind any] struct {
	Query  string    `json:"query" jsonschema:"Words that must occur in the title or the text of a ticket."`
	Kind   Kind      `json:"kind" jsonschema:"Which tickets to look at."`
	Labels []string  `json:"labels,omitempty" jsonschema:"Only tickets with all of these labels."`
	Since  time.Time `json:"since,omitzero" jsonschema:"Only tickets changed after this time."`
	Limit  int       `json:"limit,omitempty" jsonschema:"How many tickets to return at most."`
}

// Found is the result of those tools.
type Found struct {
	Tickets []string `json:"tickets" jsonschema:"The tickets that match, newest first."`
	More    bool     `json:"more" jsonschema:"Whether there are more."`
}

// ToolName names the extra tool with the number i.
func ToolName(i int) string { return fmt.Sprintf("ticket_search_%04d", i) }

// ToolDescription describes the extra tool with the number i.
func ToolDescription(i int) string {
	return fmt.Sprintf("Searches the tickets of project %d and returns those that match, newest first. "+
		"Use it before creating a ticket, so that none is created twice.", i)
}

// ToolSchema is the input schema of the extra tools: six properties, as tools
// in practice have them.
var ToolSchema = json.RawMessage(`{"type":"object","properties":{` +
	`"query":{"type":"string","description":"Words that must occur in the title or the text of a ticket.","minLength":1,"maxLength":400},` +
	`"state":{"type":"string","description":"Only tickets in this state.","enum":["open","closed","waiting","all"],"default":"open"},` +
	`"labels":{"type":"array","description":"Only tickets with all of these labels.","items":{"type":"string"},"maxItems":20},` +
	`"since":{"type":"string","description":"Only tickets changed after this time.","format":"date-time"},` +
	`"limit":{"type":"integer","description":"How many tickets to return at most.","minimum":1,"maximum":100,"default":20},` +
	`"verbose":{"type":"boolean","description":"Whether to return the text of the tickets too.","default":false}` +
	`},"required":["query"],"additionalProperties":false}`)

// ObjectSchemas are the input schemas of echo, add, progress and poke for
// servers that do not infer them.
var ObjectSchemas = map[string]json.RawMessage{
	"echo":     json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`),
	"add":      json.RawMessage(`{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"],"additionalProperties":false}`),
	"progress": json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`),
	"poke":     json.RawMessage(`{"type":"object"}`),
}

// Typical and Hard are tools that do nothing but have their arguments checked:
// against ToolSchema, and against one that needs all that JSON Schema has.
const (
	Typical = "typical"
	Hard    = "hard"
	// Ask remembers something, asks for a Confirmation, and needs both.
	Ask = "ask"
)

// Confirmation is what Ask asks for.
type Confirmation struct {
	Sure bool `json:"sure"`
}

// HardSchema describes a plan of steps: variants told apart by a constant, steps
// within steps, names by pattern, conditions.
var HardSchema = json.RawMessage(`{"type":"object","$defs":{` +
	`"name":{"type":"string","pattern":"^[a-z][a-z0-9-]{0,30}$"},` +
	`"duration":{"type":"string","pattern":"^([0-9]+h)?([0-9]+m)?([0-9]+s)?$","minLength":2},` +
	`"condition":{"oneOf":[` +
	`{"type":"object","properties":{"all":{"type":"array","items":{"$ref":"#/$defs/condition"},"minItems":1}},"required":["all"],"additionalProperties":false},` +
	`{"type":"object","properties":{"any":{"type":"array","items":{"$ref":"#/$defs/condition"},"minItems":1}},"required":["any"],"additionalProperties":false},` +
	`{"type":"object","properties":{"field":{"$ref":"#/$defs/name"},"is":{"type":["string","number","boolean","null"]}},"required":["field","is"],"additionalProperties":false}]},` +
	`"step":{"type":"object","properties":{"kind":{"enum":["run","wait","group"]},"name":{"$ref":"#/$defs/name"},"when":{"$ref":"#/$defs/condition"},` +
	`"command":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":50},"for":{"$ref":"#/$defs/duration"},` +
	`"steps":{"type":"array","items":{"$ref":"#/$defs/step"},"minItems":1}},"required":["kind","name"],"unevaluatedProperties":false,` +
	`"allOf":[{"if":{"properties":{"kind":{"const":"run"}}},"then":{"required":["command"]}},` +
	`{"if":{"properties":{"kind":{"const":"wait"}}},"then":{"required":["for"]}},` +
	`{"if":{"properties":{"kind":{"const":"group"}}},"then":{"required":["steps"]}}]}},` +
	`"properties":{"plan":{"$ref":"#/$defs/name"},"steps":{"type":"array","items":{"$ref":"#/$defs/step"},"minItems":1,"maxItems":100},` +
	`"labels":{"type":"object","propertyNames":{"$ref":"#/$defs/name"},"patternProperties":{"^x-":{"type":"string"}},"additionalProperties":{"type":["string","number"]},"maxProperties":20},` +
	`"notify":{"type":"array","items":{"type":"string","minLength":3},"uniqueItems":true},"not":{"not":{"type":"object"}}},` +
	`"required":["plan","steps"],"dependentRequired":{"notify":["labels"]},"additionalProperties":false}`)

// TypicalArguments and HardArguments are arguments that fit.
const (
	TypicalArguments = `{"query":"connection lost after login","state":"open","labels":["network","login"],"since":"2026-01-31T08:30:00Z","limit":50}`
	HardArguments    = `{"plan":"release","notify":["ada","grace"],"labels":{"team":"core","x-colour":"green","priority":2},"not":"this",` +
		`"steps":[{"kind":"run","name":"build","command":["go","build","./..."]},` +
		`{"kind":"group","name":"checks","when":{"all":[{"field":"branch","is":"main"},{"any":[{"field":"dirty","is":false},{"field":"forced","is":true}]}]},` +
		`"steps":[{"kind":"run","name":"test","command":["go","test","-race","./..."]},{"kind":"wait","name":"settle","for":"1m30s"},` +
		`{"kind":"run","name":"vet","command":["go","vet","./..."]}]},` +
		`{"kind":"run","name":"publish","when":{"field":"dry","is":null},"command":["publish","--tag","latest"]}]}`
)

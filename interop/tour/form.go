package tour

import (
	"encoding/json"
	"time"
)

// What the servers ask, and what the clients answer.
const (
	Question = "Who are you?"
	Page     = "https://example.com/sign-in"
	Errand   = "Sign in"
	Riddle   = "What is 1+1?"
	Answer   = "two"
	Model    = "m"
	Tokens   = 10
	Root     = "file:///work"
)

// Form is the schema of the form.
var Form = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"},"color":{"type":"string","enum":["red","green"]}},"required":["name"]}`)

// Filled is how the clients fill in the form.
func Filled() map[string]any { return map[string]any{"name": "Ada", "color": "green"} }

// ShowForm shows what a form asks for.
func ShowForm(message string, form any) string {
	var s schema
	if err := convert(form, &s); err != nil {
		return err.Error()
	}
	return message + " " + s.fields()
}

// Probe is how long the clients wait for a sign of the newest revision: a busy
// machine takes its time.
const Probe = time.Minute

// Legacy reports whether a revision has sessions; an empty one is left to the client.
func Legacy(revision string) bool { return revision != "" && revision < "2026" }

package mcptest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemaEnv names the folder of the official schemas, one file for each
// revision. Without it they are looked for as shared/spec/schema beside the
// repository.
const schemaEnv = "FERRY_SCHEMAS"

// schemaDir returns the folder of the official schemas, empty if there is none.
var schemaDir = sync.OnceValue(func() string {
	if dir := os.Getenv(schemaEnv); dir != "" {
		return dir
	}
	here, err := os.Getwd()
	if err != nil {
		return ""
	}
	for dir := here; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		// A linked working tree names the repository it belongs to.
		if link, err := os.ReadFile(filepath.Join(dir, ".git")); err == nil {
			main, ok := strings.CutPrefix(strings.TrimSpace(string(link)), "gitdir: ")
			if main, _, found := strings.Cut(main, string(filepath.Separator)+".git"); ok && found {
				dir = main
			}
		}
		schemas := filepath.Join(filepath.Dir(dir), "shared", "spec", "schema")
		if info, err := os.Stat(schemas); err == nil && info.IsDir() {
			return schemas
		}
	}
	return ""
})

// An official schema of a revision.
type official struct {
	revision string
	key      string // "definitions" or "$defs"
	compiler *jsonschema.Compiler
	methods  map[string]string // the definition of the message with that method
	names    map[string]bool   // of all definitions

	mu       sync.Mutex
	compiled map[string]*jsonschema.Schema
}

// schemas are the official ones by revision, read when first asked for.
var schemas = struct {
	sync.Mutex
	read map[string]*official
}{read: map[string]*official{}}

// officialSchema returns the schema of a revision, nil if there is none here.
func officialSchema(revision string) (*official, error) {
	if schemaDir() == "" {
		return nil, nil
	}
	schemas.Lock()
	defer schemas.Unlock()
	if s := schemas.read[revision]; s != nil {
		return s, nil
	}
	s, err := readSchema(revision)
	if err != nil {
		return nil, fmt.Errorf("read the schema of %s: %w", revision, err)
	}
	schemas.read[revision] = s
	return s, nil
}

func readSchema(revision string) (*official, error) {
	data, err := os.ReadFile(filepath.Join(schemaDir(), revision+".json"))
	if err != nil {
		return nil, err
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	doc, ok := parsed.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("it is a %T", parsed)
	}
	s := &official{
		revision: revision, key: "definitions", methods: map[string]string{}, names: map[string]bool{},
		compiled: map[string]*jsonschema.Schema{}, compiler: jsonschema.NewCompiler(),
	}
	if doc["$defs"] != nil {
		s.key = "$defs"
	}
	defs, _ := doc[s.key].(map[string]any)
	correct(defs)
	for name, def := range defs {
		s.names[name] = true
		method, _ := dig(def, "properties", "method", "const").(string)
		if method != "" && !strings.HasPrefix(name, "Client") {
			s.methods[method] = name
		}
	}
	return s, s.compiler.AddResource(s.address(), doc)
}

// correct mends what is narrower in the generated schemas than in what they are
// generated from: any JSON value includes null and fractions, and a number in a
// form may have a fraction.
func correct(defs map[string]any) {
	scalars := []any{"string", "number", "boolean", "null"}
	if value, ok := defs["JSONValue"].(map[string]any); ok {
		for _, branch := range value["anyOf"].([]any) {
			if m := branch.(map[string]any); dig(m, "type") != nil && dig(m, "type") != "array" {
				m["type"] = scalars
			}
		}
	}
	content := dig(defs, "ElicitResult", "properties", "content", "additionalProperties")
	if m, ok := content.(map[string]any); ok && m["anyOf"] == nil {
		m["type"] = scalars[:3]
	} else if ok {
		for _, branch := range m["anyOf"].([]any) {
			if b := branch.(map[string]any); dig(b, "type") != "array" {
				b["type"] = scalars[:3]
			}
		}
	}
}

// dig follows names into objects; nil when one is missing.
func dig(v any, names ...string) any {
	for _, name := range names {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

func (s *official) address() string { return "official:///" + s.revision }

// check checks a value against a definition.
func (s *official) check(definition string, value json.RawMessage) error {
	if !s.names[definition] {
		return fmt.Errorf("the schema has no %s", definition)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	compiled := s.compiled[definition]
	if compiled == nil {
		var err error
		if compiled, err = s.compiler.Compile(s.address() + "#/" + s.key + "/" + definition); err != nil {
			return err
		}
		s.compiled[definition] = compiled
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return err
	}
	return compiled.Validate(parsed)
}

// result returns the definition of the result of a method, empty if the
// revision does not know the method.
func (s *official) result(method string) string {
	request, known := s.methods[method]
	if !known {
		return ""
	}
	if name := strings.TrimSuffix(request, "Request") + "Result"; s.names[name] {
		return name
	}
	return "EmptyResult"
}

// envelope returns the definition that a message as a whole has to fit.
func (s *official) envelope(kind string) string {
	switch {
	case kind == "result" && s.names["JSONRPCResultResponse"]:
		return "JSONRPCResultResponse"
	case kind == "result":
		return "JSONRPCResponse"
	case s.names["JSONRPCErrorResponse"]:
		return "JSONRPCErrorResponse"
	default:
		return "JSONRPCError"
	}
}

func TestOfficialSchemasAreThere(t *testing.T) {
	t.Parallel()
	if schemaDir() == "" {
		t.Skipf("the official schemas are not here, so messages are not checked against them; %s can name their folder", schemaEnv)
	}
	for _, revision := range revisions {
		s, err := officialSchema(revision)
		if err != nil {
			t.Fatal(err)
		}
		if s.result("tools/call") != "CallToolResult" || s.methods["notifications/progress"] != "ProgressNotification" {
			t.Errorf("%s: the schema does not have what it should: %v", revision, s.methods)
		}
		// A check that cannot fail proves nothing.
		if err := s.check("CallToolResult", json.RawMessage(`{"content":null}`)); err == nil {
			t.Errorf("%s: a result without content fits the schema", revision)
		}
	}
}

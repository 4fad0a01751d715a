package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// location is the name the root document has inside the library. It is opaque
// so that no relative reference can turn it into something fetchable.
const location = "urn:schema"

// A Schema checks JSON values. It is safe for concurrent use.
type Schema struct {
	raw json.RawMessage
	typ reflect.Type // from which it was inferred; nil if it was not

	reading sync.Once // for those below, and their error
	doc     any
	graph   *graph
	plan    *plan  // nil when the schema uses more than the fast check knows
	codec   *codec // nil without a type
	readErr error

	once     sync.Once
	compiled *jsonschema.Schema
	err      error
}

// Compile reads a schema. The error says which bound was exceeded and where, or
// which keyword is wrong. It keeps no reference to raw.
//
// Schemas that the fast check covers completely are handed to the library only
// when a value fails, for the wording of the problems; that keeps registering a
// thousand tools cheap.
func Compile(raw json.RawMessage) (*Schema, error) {
	s := &Schema{raw: slices.Clone(raw)}
	if err := s.read(); err != nil {
		return nil, err
	}
	return s, nil
}

// read reads the schema, once. What came from outside is read at once, so that
// mistakes show when it comes.
func (s *Schema) read() error {
	s.reading.Do(func() { s.readErr = s.parse() })
	return s.readErr
}

func (s *Schema) parse() error {
	var doc any
	if len(s.raw) > maxSchemaBytes {
		return fmt.Errorf("schema has %d bytes, at most %d are allowed", len(s.raw), maxSchemaBytes)
	}
	if err := json.Unmarshal(s.raw, &doc); err != nil {
		return fmt.Errorf("read schema: %w", err)
	}
	switch doc.(type) {
	case bool, map[string]any:
	default:
		return errors.New("schema must be an object or a boolean")
	}
	g, err := guard(doc)
	if err != nil {
		return err
	}
	s.doc, s.graph, s.plan = doc, g, newPlan(doc)
	switch {
	case s.plan == nil:
		_, err = s.library()
	case s.typ != nil:
		s.codec = codecs{}.of(s.plan.root, s.typ)
	}
	return err
}

// ofTypes holds the schemas that were inferred, by their types, of which a program
// has so many and no more.
var ofTypes sync.Map // reflect.Type to *Schema

// ForType infers the schema of t, which all callers share. It is read when it is
// first used: a program that registers a thousand tools to use a few does not wait.
func ForType(t reflect.Type) (*Schema, error) {
	if known, ok := ofTypes.Load(t); ok {
		return known.(*Schema), nil
	}
	raw, err := Infer(t)
	if err != nil {
		return nil, err
	}
	s := &Schema{raw: raw, typ: t}
	if len(raw) > certain || jsonDepth(raw) > maxSchemaDepth {
		if err := s.read(); err != nil {
			return nil, err
		}
	}
	known, _ := ofTypes.LoadOrStore(t, s)
	return known.(*Schema), nil
}

// certain is the size up to which nothing can be wrong with an inferred schema
// that is not nested deep: it cannot go beyond the bounds of guard.
const certain = 16 << 10

// Raw returns the schema as it was given. The caller must not change it.
func (s *Schema) Raw() json.RawMessage { return s.raw }

// Validate checks a JSON value. The value must be strict JSON, as a decoded
// message is: on input that is not, the verdict is unspecified, though never a
// panic. The error is a [*ValidationError] when the value does not match, and a
// plain error when the value could not be checked within bounds.
func (s *Schema) Validate(instance []byte) error {
	if err := s.read(); err != nil {
		return err
	}
	if s.plan != nil && s.plan.ok(instance) {
		return nil
	}
	return s.explain(instance)
}

// explain runs the library, which knows every keyword and says what is wrong.
func (s *Schema) explain(instance []byte) (err error) {
	lib, err := s.library()
	if err != nil {
		return err
	}
	if d := jsonDepth(instance); d > maxInstanceDepth {
		return fmt.Errorf("value is nested %d deep, at most %d is allowed", d, maxInstanceDepth)
	}
	var v any
	if err := json.Unmarshal(instance, &v); err != nil {
		if tooBig, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return fmt.Errorf("value holds %s, which is out of range", tooBig.Value)
		}
		return fmt.Errorf("read value: %w", err)
	}
	if err := s.graph.afford(v); err != nil {
		return err
	}
	defer contain("check value", &err)
	if err := lib.Validate(v); err != nil {
		return newValidationError(err)
	}
	return nil
}

func (s *Schema) library() (*jsonschema.Schema, error) {
	s.once.Do(func() {
		s.compiled, s.err = compileLibrary(s.doc)
		s.doc = nil
	})
	return s.compiled, s.err
}

func compileLibrary(doc any) (lib *jsonschema.Schema, err error) {
	defer contain("compile schema", &err)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(refuse{})
	c.UseRegexpEngine(compilePattern)
	if err := c.AddResource(location, doc); err != nil {
		return nil, fmt.Errorf("compile schema: %w", err)
	}
	lib, err = c.Compile(location)
	if err != nil {
		var invalid *jsonschema.SchemaValidationError
		var detail *jsonschema.ValidationError
		if errors.As(err, &invalid) && errors.As(invalid.Err, &detail) {
			return nil, fmt.Errorf("compile schema: not a valid schema: %w", newValidationError(detail))
		}
		return nil, fmt.Errorf("compile schema: %w", err)
	}
	return lib, nil
}

// refuse is the loader: schemas are never fetched, neither from the network nor
// from a file, because the peer chooses the address.
type refuse struct{}

func (refuse) Load(address string) (any, error) {
	if u, err := url.Parse(address); err == nil {
		address = u.Redacted()
	}
	return nil, fmt.Errorf("reference to %s refused: schemas are not fetched", address)
}

// contain turns a panic into an error. The library panics on some hostile
// input; a peer must not be able to end the process that way.
func contain(doing string, err *error) {
	switch r := recover().(type) {
	case nil:
	case *costError:
		*err = r
	default:
		*err = fmt.Errorf("%s: internal error in the validator", doing)
	}
}

package json

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// An Error says what is wrong with a JSON value and where.
type Error struct {
	// Pointer is the place as a JSON pointer (RFC 6901); "" is the whole value.
	Pointer string
	// Offset is the place as a number of bytes from the start.
	Offset int64
	// Want and Got name the kinds of value, such as "integer" and "string",
	// when the value is of the wrong kind; else they are "".
	Want, Got string
	// Err is the cause, when there is more to say than Want and Got do.
	Err error
}

// Error implements the error interface.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Pointer != "" {
		b.WriteString(shorten(e.Pointer))
		b.WriteString(": ")
	}
	switch {
	case e.Want != "" && e.Got != "":
		fmt.Fprintf(&b, "want %s, got %s", e.Want, e.Got)
	case e.Want != "":
		fmt.Fprintf(&b, "want %s", e.Want)
	}
	if e.Err != nil {
		if e.Want != "" {
			b.WriteString(": ")
		}
		b.WriteString(shorten(strings.TrimPrefix(e.Err.Error(), "jsontext: ")))
	}
	if e.Want == "" && e.Offset > 0 {
		fmt.Fprintf(&b, " at byte %d", e.Offset)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// maxText limits how much of a peer's text an error repeats.
const maxText = 160

func shorten(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "") + "…"
}

// explain turns the library's errors into ours. Errors of other origin, such
// as those of a writer or of a Go type that has no JSON, stay as they are.
func explain(err error) error {
	var own *Error
	var semantic *jsonv2.SemanticError
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.As(err, &own):
		// It comes from a type that decodes itself, and knows only its part.
		whole := *own
		if errors.As(err, &semantic) {
			whole.Pointer = string(semantic.JSONPointer) + own.Pointer
			whole.Offset = semantic.ByteOffset + own.Offset
		}
		return &whole
	case errors.As(err, &syntactic):
		return &Error{Pointer: string(syntactic.JSONPointer), Offset: syntactic.ByteOffset, Err: syntactic.Err}
	case errors.As(err, &semantic):
		return explainSemantic(semantic)
	}
	return err
}

func explainSemantic(e *jsonv2.SemanticError) *Error {
	out := &Error{
		Pointer: string(e.JSONPointer),
		Offset:  e.ByteOffset,
		Got:     describeKind(e.JSONKind),
		Err:     e.Err,
	}
	if out.Got == "" {
		// Encoding: there is no JSON yet, so the Go type is all there is.
		if e.GoType != nil {
			out.Err = noJSONError{e.GoType, e.Err}
		}
		return out
	}
	if e.GoType != nil {
		out.Want = describeType(e.GoType)
	}
	if out.Want == out.Got {
		// The kind is right and the value is not: the cause says why.
		out.Want, out.Got = "valid "+out.Want, ""
	}
	return out
}

// noJSONError is about a Go value that cannot be encoded.
type noJSONError struct {
	goType reflect.Type
	cause  error
}

func (e noJSONError) Error() string {
	text := "Go value of type " + e.goType.String() + " has no JSON"
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	return text
}

func (e noJSONError) Unwrap() error { return e.cause }

func describeKind(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "boolean"
	case '"':
		return "string"
	case '0':
		return "number"
	case '{', '}':
		return "object"
	case '[', ']':
		return "array"
	default:
		return ""
	}
}

// describeType names a Go type in the words of JSON, for readers who do not
// see the Go code.
func describeType(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Time]():
		return "time (RFC 3339)"
	case reflect.TypeFor[[]byte]():
		return "base64 string"
	}
	switch k := t.Kind(); {
	case isInteger(k):
		return "integer"
	case k == reflect.Float32 || k == reflect.Float64:
		return "number"
	case k == reflect.String:
		return "string"
	case k == reflect.Bool:
		return "boolean"
	case k == reflect.Slice || k == reflect.Array:
		return "array"
	case k == reflect.Map || k == reflect.Struct:
		return "object"
	case k == reflect.Pointer:
		return describeType(t.Elem())
	}
	return t.String()
}

func isInteger(k reflect.Kind) bool {
	return reflect.Int <= k && k <= reflect.Uint64
}

package mcp

import (
	stdjson "encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ferrymcp/ferry/internal/json"
)

// FormError tells what is wrong with one field of a form, or with what was
// filled in there.
type FormError struct {
	// Field is the name of the field.
	Field string
	// Problem tells what is wrong with it.
	Problem string
}

// Error implements the error interface.
func (e *FormError) Error() string { return fmt.Sprintf("field %q: %s", e.Field, e.Problem) }

// Validate reports whether this is a form that the protocol allows: flat, of
// known kinds of field, with choices to choose from, and with defaults that fit.
// The error is a *FormError.
func (s *FormSchema) Validate() error {
	names := make(map[string]bool, len(s.Fields))
	for i := range s.Fields {
		f := &s.Fields[i]
		if names[f.Name] {
			return &FormError{f.Name, "comes twice"}
		}
		names[f.Name] = true
		if problem := f.problem(); problem != "" {
			return &FormError{f.Name, problem}
		}
	}
	for _, name := range s.Required {
		if !names[name] {
			return &FormError{name, "is required but not part of the form"}
		}
	}
	return nil
}

// problem tells what is wrong with the field itself; "" means nothing.
func (f *FormField) problem() string {
	switch kind := f.Kind(); {
	case kind == FormUnknown:
		return fmt.Sprintf("forms have no type %q", f.Type)
	case f.Format != "" && !slices.Contains(formFormats, f.Format):
		return fmt.Sprintf("forms have no format %q, only %s", f.Format, strings.Join(formFormats, ", "))
	case (kind == FormChoice || kind == FormChoices) && len(f.Options()) == 0:
		return "has nothing to choose from"
	case crossed(f.MinLength, f.MaxLength), crossed(f.MinItems, f.MaxItems), crossed(f.Minimum, f.Maximum):
		return "the lower bound is above the upper bound"
	}
	if f.Default == nil {
		return ""
	}
	if problem := f.misfit(f.Default); problem != "" {
		return "default: " + problem
	}
	return ""
}

// crossed reports whether no value is between two bounds; nil is no bound.
func crossed[T int64 | float64](low, high *T) bool { return low != nil && high != nil && *low > *high }

// Fill checks what a user filled in, a JSON object by field name, and completes
// it: defaults take the place of fields that are missing or null, and unknown
// fields are dropped. Nil content is an empty object. The result has the order
// of the form. The error says what is wrong with the content; it is a *FormError
// when that is one field.
func (s *FormSchema) Fill(content stdjson.RawMessage) (stdjson.RawMessage, error) {
	var given map[string]stdjson.RawMessage
	if len(content) > 0 {
		if err := json.Unmarshal(content, &given); err != nil {
			return nil, fmt.Errorf("read the content of a form: %w", err)
		}
	}
	filled := []byte{'{'}
	for i := range s.Fields {
		f := &s.Fields[i]
		value := given[f.Name]
		if value == nil || string(value) == "null" {
			value = f.Default
		}
		if value == nil {
			if slices.Contains(s.Required, f.Name) {
				return nil, &FormError{f.Name, "is missing"}
			}
			continue
		}
		if problem := f.misfit(value); problem != "" {
			return nil, &FormError{f.Name, problem}
		}
		if len(filled) > 1 {
			filled = append(filled, ',')
		}
		filled = append(json.AppendString(filled, f.Name), ':')
		filled = append(filled, value...)
	}
	return append(filled, '}'), nil
}

// misfit tells why a value cannot stand in the field; "" means that it can. A
// field of an unknown kind takes everything.
func (f *FormField) misfit(value stdjson.RawMessage) string {
	switch f.Kind() {
	case FormText:
		text, ok := json.Unquote(value)
		if !ok {
			return "must be a text"
		}
		return f.misfitText(text)
	case FormNumber:
		return f.misfitNumber(string(value))
	case FormBoolean:
		if word := string(value); word != "true" && word != "false" {
			return "must be true or false"
		}
	case FormChoice:
		return misfitChoice(value, f.Options())
	case FormChoices:
		return f.misfitChoices(value)
	case FormUnknown:
	}
	return ""
}

func (f *FormField) misfitText(text string) string {
	length := int64(utf8.RuneCountInString(text))
	switch {
	case f.MinLength != nil && length < *f.MinLength:
		return fmt.Sprintf("must have at least %d characters", *f.MinLength)
	case f.MaxLength != nil && length > *f.MaxLength:
		return fmt.Sprintf("must have at most %d characters", *f.MaxLength)
	case !fits(f.Format, text):
		return fmt.Sprintf("must be a valid %s", f.Format)
	}
	return ""
}

func (f *FormField) misfitNumber(token string) string {
	number, err := strconv.ParseFloat(token, 64)
	switch {
	case err != nil:
		return "must be a number"
	case f.Type == "integer" && !whole(token, number):
		return "must be a whole number"
	case f.Minimum != nil && number < *f.Minimum:
		return fmt.Sprintf("must be at least %v", *f.Minimum)
	case f.Maximum != nil && number > *f.Maximum:
		return fmt.Sprintf("must be at most %v", *f.Maximum)
	}
	return ""
}

// whole reports whether a number has no fraction, however it is written.
func whole(token string, number float64) bool {
	if _, err := strconv.ParseInt(token, 10, 64); err == nil {
		return true
	}
	return number == math.Trunc(number)
}

func misfitChoice(value stdjson.RawMessage, options []FormOption) string {
	choice, ok := json.Unquote(value)
	if ok && slices.ContainsFunc(options, func(o FormOption) bool { return o.Const == choice }) {
		return ""
	}
	names := make([]string, len(options))
	for i, o := range options {
		names[i] = strconv.Quote(o.Const)
	}
	return "must be one of " + strings.Join(names, ", ")
}

func (f *FormField) misfitChoices(value stdjson.RawMessage) string {
	var choices []stdjson.RawMessage
	if json.Unmarshal(value, &choices) != nil {
		return "must be a list of choices"
	}
	count := int64(len(choices))
	switch {
	case f.MinItems != nil && count < *f.MinItems:
		return fmt.Sprintf("must have at least %d choices", *f.MinItems)
	case f.MaxItems != nil && count > *f.MaxItems:
		return fmt.Sprintf("must have at most %d choices", *f.MaxItems)
	}
	options := f.Options()
	for _, choice := range choices {
		if problem := misfitChoice(choice, options); problem != "" {
			return "each choice " + problem
		}
	}
	return ""
}

// The formats of texts in forms.
const (
	formatEmail    = "email"
	formatURI      = "uri"
	formatDate     = "date"
	formatDateTime = "date-time"
)

var formFormats = []string{formatEmail, formatURI, formatDate, formatDateTime}

// fits reports whether a text looks like a format. It keeps out mistakes, not
// everything that a standard forbids; an unknown format takes everything.
func fits(format, text string) bool {
	switch format {
	case formatEmail:
		at := strings.LastIndexByte(text, '@')
		return at > 0 && at < len(text)-1 && !strings.ContainsAny(text, " \t\r\n")
	case formatURI:
		u, err := url.Parse(text)
		return err == nil && u.Scheme != "" && text != u.Scheme+":"
	case formatDate:
		_, err := time.Parse(time.DateOnly, text)
		return err == nil
	case formatDateTime:
		text = strings.ToUpper(text)
		for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateTime} {
			if _, err := time.Parse(layout, text); err == nil {
				return true
			}
		}
		return false
	}
	return true
}

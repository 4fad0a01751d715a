package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// describe words one failed keyword. It returns nothing for keywords that only
// group others: their causes say what is wrong.
func describe(e *jsonschema.ValidationError) []string {
	switch k := e.ErrorKind.(type) {
	case nil, *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf, *kind.ContentSchema:
		return nil
	case *kind.AnyOf:
		return alternatives(e)
	case *kind.OneOf:
		if k.Subschemas != nil {
			return one("matches more than one of the allowed forms, exactly one is wanted")
		}
		return alternatives(e)
	case *kind.Required:
		return missing(k.Missing, "")
	case *kind.Dependency:
		return missing(k.Missing, k.Prop)
	case *kind.DependentRequired:
		return missing(k.Missing, k.Prop)
	case *kind.AdditionalProperties:
		if len(k.Properties) > 1 {
			return one("unknown properties %s", quoteAll(k.Properties))
		}
		return one("unknown property %s", quoteAll(k.Properties))
	case *kind.PropertyNames:
		return one("property name %q is not allowed", clip(k.Property, 60))
	}
	if m := describeBound(e.ErrorKind); m != "" {
		return []string{m}
	}
	return describeValue(e.ErrorKind)
}

func describeValue(e jsonschema.ErrorKind) []string {
	switch k := e.(type) {
	case *kind.Type:
		return one("expected %s, got %s", strings.Join(k.Want, " or "), k.Got)
	case *kind.Enum:
		return one("must be one of %s, got %s", values(k.Want), value(k.Got))
	case *kind.Const:
		return one("must be %s, got %s", value(k.Want), value(k.Got))
	case *kind.Format:
		if k.Want == "regex" && k.Err != nil {
			return one("%s", clip(k.Err.Error(), 200)) // a pattern in a schema: the reason matters
		}
		return one("is not a valid %s", k.Want)
	case *kind.Pattern:
		return one("%s does not match the pattern %s", value(k.Got), clip(k.Want, 200))
	case *kind.UniqueItems:
		return one("items %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.Contains:
		return one("no item matches what the array must contain")
	case *kind.MinContains:
		return one("at least %d items must match, got %d", k.Want, len(k.Got))
	case *kind.MaxContains:
		return one("at most %d items may match, got %d", k.Want, len(k.Got))
	case *kind.AdditionalItems:
		return one("has %s too many", plural(k.Count, "item"))
	case *kind.FalseSchema:
		return one("nothing is allowed here")
	case *kind.Not:
		return one("matches a form that is not allowed")
	}
	return one("value is not allowed")
}

func describeBound(e jsonschema.ErrorKind) string {
	switch k := e.(type) {
	case *kind.Minimum:
		return fmt.Sprintf("must be at least %s, got %s", number(k.Want), number(k.Got))
	case *kind.Maximum:
		return fmt.Sprintf("must be at most %s, got %s", number(k.Want), number(k.Got))
	case *kind.ExclusiveMinimum:
		return fmt.Sprintf("must be greater than %s, got %s", number(k.Want), number(k.Got))
	case *kind.ExclusiveMaximum:
		return fmt.Sprintf("must be less than %s, got %s", number(k.Want), number(k.Got))
	case *kind.MultipleOf:
		return fmt.Sprintf("must be a multiple of %s, got %s", number(k.Want), number(k.Got))
	case *kind.MinLength:
		return fmt.Sprintf("must have at least %s, has %d", plural(k.Want, "character"), k.Got)
	case *kind.MaxLength:
		return fmt.Sprintf("must have at most %s, has %d", plural(k.Want, "character"), k.Got)
	case *kind.MinItems:
		return fmt.Sprintf("must have at least %s, has %d", plural(k.Want, "item"), k.Got)
	case *kind.MaxItems:
		return fmt.Sprintf("must have at most %s, has %d", plural(k.Want, "item"), k.Got)
	case *kind.MinProperties:
		return fmt.Sprintf("must have at least %s, has %d", plural(k.Want, "property"), k.Got)
	case *kind.MaxProperties:
		return fmt.Sprintf("must have at most %s, has %d", plural(k.Want, "property"), k.Got)
	}
	return ""
}

func one(format string, args ...any) []string { return []string{fmt.Sprintf(format, args...)} }

// alternatives describes an anyOf or oneOf. Forms that differ in type are one
// choice of types; when all but one have the wrong type, the problems of that
// one say more than a list, so nothing is returned and causes is cut to it.
func alternatives(e *jsonschema.ValidationError) []string {
	var want []string
	var got string
	var rest []*jsonschema.ValidationError
	for _, c := range e.Causes {
		if t := wrongType(c, len(e.InstanceLocation)); t != nil {
			want, got = append(want, t.Want...), t.Got
		} else {
			rest = append(rest, c)
		}
	}
	switch len(rest) {
	case 0:
		if len(want) > 0 {
			return one("expected %s, got %s", strings.Join(distinct(want), " or "), got)
		}
		return nil
	case 1:
		e.Causes = rest
		return nil
	}
	return []string{forms(e)}
}

// wrongType returns the mismatch if the value itself has the wrong type.
func wrongType(e *jsonschema.ValidationError, depth int) *kind.Type {
	for {
		if t, ok := e.ErrorKind.(*kind.Type); ok && len(e.InstanceLocation) == depth {
			return t
		}
		if _, ok := e.ErrorKind.(*kind.Reference); !ok || len(e.Causes) != 1 {
			return nil
		}
		e = e.Causes[0]
	}
}

func distinct(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

func missing(names []string, because string) []string {
	text := "missing required property "
	if len(names) > 1 {
		text = "missing required properties "
	}
	text += quoteAll(names)
	if because != "" {
		text += fmt.Sprintf(", needed because of %q", clip(because, 60))
	}
	return []string{text}
}

func number(r *big.Rat) string {
	if r == nil {
		return "a number"
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func value(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "a value"
	}
	return clip(string(b), 80)
}

func values(list []any) string {
	const most = 12
	var b strings.Builder
	for i, v := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		if i == most {
			b.WriteString("…")
			break
		}
		b.WriteString(value(v))
	}
	return b.String()
}

package schema

import (
	"reflect"
	"strconv"

	"github.com/ferrymcp/ferry/internal/json"
)

// decode is value, and puts the value where to is.
func (c *checker) decode(k *codec, to reflect.Value) bool {
	c.space()
	switch k.kind {
	case reflect.Invalid:
		start := c.pos
		return c.value(k.rule) && json.Unmarshal(c.data[start:c.pos], to.Addr().Interface()) == nil
	case reflect.Pointer:
		if c.peek() == 'n' {
			return k.null && c.word("null")
		}
		p := reflect.New(to.Type().Elem())
		to.Set(p)
		return c.decode(k.elem, p.Elem())
	case reflect.Struct:
		return c.peek() == '{' && c.within(k, to, typeObject, c.decodeObject)
	case reflect.Slice:
		return c.peek() == '[' && c.within(k, to, typeArray, c.decodeArray)
	case reflect.String:
		return c.decodeText(k.rule, to)
	case reflect.Bool:
		return c.decodeBool(k.rule, to)
	}
	return c.decodeNumber(k, to)
}

// within is nested for what is decoded.
func (c *checker) within(k *codec, to reflect.Value, t types, decode func(*codec, reflect.Value) bool) bool {
	if k.rule.types&t == 0 || k.rule.enum != nil {
		return false
	}
	if c.depth++; c.depth > maxInstanceDepth {
		return false
	}
	c.pos++
	ok := decode(k, to)
	c.depth--
	return ok
}

func (c *checker) decodeObject(k *codec, to reflect.Value) bool {
	var seen [maxRequired / 64]uint64
	for n := 0; !c.more('}', n == 0); n++ {
		if c.peek() != '"' {
			return false
		}
		name, escaped := c.scanString()
		c.space()
		if escaped || c.peek() != ':' {
			return false
		}
		c.pos++
		i := n // most objects are in the order of their type
		if i >= len(k.members) || k.members[i].name != string(name) {
			at, known := k.byName[string(name)]
			if !known {
				return false
			}
			i = at
		}
		m := &k.members[i]
		if m.bit >= 0 {
			seen[m.bit/64] |= 1 << (m.bit % 64)
		}
		if !c.decode(m.value, to.Field(m.field)) {
			return false
		}
	}
	for i := range k.rule.required {
		if seen[i/64]&(1<<(i%64)) == 0 {
			return false
		}
	}
	return true
}

func (c *checker) decodeArray(k *codec, to reflect.Value) bool {
	to.Set(reflect.MakeSlice(to.Type(), 0, 0)) // an empty array is not nil
	n := 0
	for ; !c.more(']', n == 0); n++ {
		to.Grow(1)
		to.SetLen(n + 1)
		if !c.decode(k.elem, to.Index(n)) {
			return false
		}
	}
	return n >= k.rule.minItems && n <= k.rule.maxItems
}

func (c *checker) decodeText(r *rule, to reflect.Value) bool {
	start := c.pos
	if c.peek() != '"' || r.types&typeString == 0 {
		return false
	}
	inner, escaped := c.scanString()
	if inner == nil {
		return false
	}
	text := string(inner)
	if escaped {
		plain, ok := json.Unquote(c.data[start:c.pos])
		if !ok {
			return false
		}
		text = plain
	}
	if r.bindsText() && !r.admitsText([]byte(text)) {
		return false
	}
	to.SetString(text)
	return true
}

func (c *checker) decodeBool(r *rule, to reflect.Value) bool {
	if c.peek() == 't' {
		to.SetBool(true)
		return c.word("true") && r.admits(typeBoolean, enumTrue)
	}
	return c.word("false") && r.admits(typeBoolean, enumFalse)
}

// decodeNumber takes numbers that are written as their type is; 1e2 is left to the
// general way, and so is -0.
func (c *checker) decodeNumber(k *codec, to reflect.Value) bool {
	start := c.pos
	for c.pos < len(c.data) && isNumberByte(c.data[c.pos]) {
		c.pos++
	}
	number := c.data[start:c.pos]
	f, ok := parseNumber(number)
	if !ok || !k.rule.admitsNumber(f) || len(number) > 1 && string(number[:2]) == "-0" {
		return false
	}
	switch {
	case k.kind == reflect.Float64:
		to.SetFloat(f)
		return true
	case to.CanUint():
		n, err := strconv.ParseUint(json.Alias(number), 10, to.Type().Bits())
		to.SetUint(n)
		return err == nil
	}
	n, err := strconv.ParseInt(json.Alias(number), 10, to.Type().Bits())
	to.SetInt(n)
	return err == nil
}

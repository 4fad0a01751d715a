package schema

import (
	"bytes"
	"encoding/json"
)

// object is a JSON object that keeps the order of its members, so that
// inferred schemas read like the struct they came from.
type object []member

type member struct {
	name  string
	value any
}

func (o *object) set(name string, value any) { *o = append(*o, member{name, value}) }

func (o object) write(buf *bytes.Buffer) error {
	buf.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			buf.WriteByte(',')
		}
		if err := writeValue(buf, m.name); err != nil {
			return err
		}
		buf.WriteByte(':')
		if err := writeValue(buf, m.value); err != nil {
			return err
		}
	}
	buf.WriteByte('}')
	return nil
}

func writeValue(buf *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case object:
		return v.write(buf)
	case []object:
		for i, o := range v {
			buf.WriteByte("[,"[min(i, 1)])
			if err := o.write(buf); err != nil {
				return err
			}
		}
		buf.WriteByte(']')
		return nil
	}
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false) // descriptions are read by people
	if err := enc.Encode(v); err != nil {
		return err
	}
	buf.Truncate(buf.Len() - 1) // the encoder ends with a newline
	return nil
}

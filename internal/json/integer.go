package json

import (
	"bytes"
	"errors"
	"reflect"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

var (
	errNotIntegral = errors.New("number has a fraction")
	errRange       = errors.New("number is out of range")
)

// tolerant reads integral floats into every Go type of an integer kind.
var tolerant = jsonv2.WithUnmarshalers(jsonv2.UnmarshalFromFunc(readInteger))

// floatForInteger reports whether err is about a number with a point or an
// exponent where Go wants an integer.
func floatForInteger(err error) bool {
	var e *jsonv2.SemanticError
	return errors.As(err, &e) && e.JSONKind == '0' && e.GoType != nil &&
		isInteger(e.GoType.Kind()) && bytes.ContainsAny(e.JSONValue, ".eE")
}

// readInteger is asked for every value; it takes numbers for integers and
// passes on the rest, including types that decode themselves.
func readInteger(dec *jsontext.Decoder, v any) error {
	p := reflect.ValueOf(v)
	if p.Kind() != reflect.Pointer || p.IsNil() || !isInteger(p.Elem().Kind()) || dec.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	switch v.(type) {
	case jsonv2.UnmarshalerFrom, jsonv2.Unmarshaler:
		return errors.ErrUnsupported
	}
	if quoted, _ := jsonv2.GetOption(dec.Options(), jsonv2.StringifyNumbers); quoted {
		return errors.ErrUnsupported
	}
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	digits, err := integral(string(raw))
	if err == nil {
		err = setInteger(p.Elem(), digits)
	}
	if err != nil {
		return &Error{Want: "integer", Got: "number", Err: err}
	}
	return nil
}

func setInteger(dst reflect.Value, digits string) error {
	if dst.CanInt() {
		n, err := strconv.ParseInt(digits, 10, dst.Type().Bits())
		if err != nil {
			return errRange
		}
		dst.SetInt(n)
		return nil
	}
	n, err := strconv.ParseUint(digits, 10, dst.Type().Bits())
	if err != nil {
		return errRange
	}
	dst.SetUint(n)
	return nil
}

// maxExponent is more than any 64-bit integer needs and keeps 1e999999999 from
// being written out.
const maxExponent = 100

// integral returns a JSON number as plain digits with an optional sign.
func integral(number string) (string, error) {
	mantissa, exponent := number, 0
	if i := strings.IndexAny(number, "eE"); i >= 0 {
		var err error
		mantissa = number[:i]
		if exponent, err = strconv.Atoi(number[i+1:]); err != nil {
			exponent = maxExponent + 1
			if number[i+1] == '-' {
				exponent = -exponent
			}
		}
	}
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0", nil
	}
	zeros := exponent - len(fraction)
	if zeros > maxExponent {
		return "", errRange
	}
	if zeros < 0 {
		cut := len(digits) + zeros
		if cut <= 0 || strings.Trim(digits[cut:], "0") != "" {
			return "", errNotIntegral
		}
		digits = digits[:cut]
	} else {
		digits += strings.Repeat("0", zeros)
	}
	if negative {
		digits = "-" + digits
	}
	return digits, nil
}

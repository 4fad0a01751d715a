package json_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/internal/json"
)

func TestUnmarshal(t *testing.T) {
	t.Parallel()
	size := uint16(40000)
	tests := []struct {
		data string
		want sample
	}{
		{`{"name":"x","count":1,"unknown":{}}`, sample{Name: "x", Count: 1}},
		{`{"NAME":"x"}`, sample{}},
		{`{"count":100.0}`, sample{Count: 100}},
		{
			`{"count":1e2,"ratio":1.5,"level":-1.20e1,"size":4e4,"list":[1,2.0,3000e-3]}`,
			sample{Count: 100, Ratio: 1.5, Level: -12, Size: &size, List: []int{1, 2, 3}},
		},
		{`{"count":-0.0}`, sample{}},
		{`{"count":0e999999999999999999999}`, sample{}},
		{`{"count":1.0,"raw":1.0}`, sample{Count: 1, Raw: []byte(`1.0`)}},
		{`{"raw":{"a": 1}}`, sample{Raw: []byte(`{"a": 1}`)}},
	}
	for _, tt := range tests {
		var got sample
		if err := json.Unmarshal([]byte(tt.data), &got); err != nil {
			t.Errorf("Unmarshal(%s): %v", tt.data, err)
		} else if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("Unmarshal(%s): -want +got\n%s", tt.data, d)
		}
	}
}

func TestUnmarshalErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ data, want string }{
		{`{"name":1}`, `/name: want string, got number`},
		{`{"name":[]}`, `/name: want string, got array`},
		{`{"count":"1"}`, `/count: want integer, got string`},
		{`{"flag":"yes"}`, `/flag: want boolean, got string`},
		{`{"ratio":{}}`, `/ratio: want number, got object`},
		{`{"list":[1,true]}`, `/list/1: want integer, got boolean`},
		{`{"list":1}`, `/list: want array, got number`},
		{`{"size":-1}`, `/size: want integer, got number`},
		{`{"count":1.5}`, `/count: want integer, got number: number has a fraction`},
		{`{"count":5e-1}`, `/count: want integer, got number: number has a fraction`},
		{`{"count":1e-99999999999999999999}`, `/count: want integer, got number: number has a fraction`},
		{`{"count":1e30}`, `/count: want integer, got number: number is out of range`},
		{`{"count":1e99999999999999999999}`, `/count: want integer, got number: number is out of range`},
		{`{"size":7e4}`, `/size: want integer, got number: number is out of range`},
		{`{"level":1.28e2}`, `/level: want integer, got number: number is out of range`},
		{`{"at":1}`, `/at: want time (RFC 3339), got number`},
		{`{"data":1}`, `/data: want base64 string, got number`},
		{`[]`, `want object, got array`},
		{`{"name":"a","name":"b"}`, `/name: duplicate object member name`},
		{`{"x":{"a":1,"a":2}}`, `/x/a: duplicate object member name`},
		{`{} {}`, `invalid character '{' after top-level value`},
		{"{\"x\":\"\xff\"}", `/x: invalid UTF-8`},
		{`{"count":1.0,"name":2}`, `/name: want string, got number`},
		{`{"` + strings.Repeat("n", 999) + `":[1,}`, `/nnn`},
		{``, `EOF`},
	}
	for _, tt := range tests {
		var v sample
		err := json.Unmarshal([]byte(tt.data), &v)
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) && tt.data != "" || len(err.Error()) > 400 {
			t.Errorf("Unmarshal(%.99s)\n got %v\nwant %s", tt.data, err, tt.want)
			continue
		}
		var typed *json.Error
		if !errors.As(err, &typed) && tt.data != "" {
			t.Errorf("Unmarshal(%.99s) error is a %T, want *json.Error", tt.data, err)
		}
	}
}

// pair decodes itself with this package, as users' types may do.
type pair struct{ a, b int }

func (p *pair) UnmarshalJSON(data []byte) error {
	var parts struct{ A, B int }
	err := json.Unmarshal(data, &parts)
	p.a, p.b = parts.A, parts.B
	return err
}

type ownLevel int

func (l *ownLevel) UnmarshalJSON(data []byte) error { *l = ownLevel(len(data)); return nil }

func TestUnmarshalTypesThatDecodeThemselves(t *testing.T) {
	t.Parallel()
	var v struct {
		Pairs []pair
		Own   ownLevel
		Count int
		Text  int `json:",string"`
	}
	if err := json.Unmarshal([]byte(`{"Pairs":[{"A":1.0,"B":2}],"Own":1.50,"Count":2.0,"Text":"7"}`), &v); err != nil ||
		v.Pairs[0] != (pair{1, 2}) || v.Own != 4 || v.Count != 2 || v.Text != 7 {
		t.Errorf("Unmarshal = %+v, %v", v, err)
	}
	err := json.Unmarshal([]byte(`{"Pairs":[{"A":1},{"B":"x"}]}`), &v)
	if want := "/Pairs/1/B: want integer, got string"; err == nil || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
	err = json.Unmarshal([]byte(`{"Count":1.0,"Text":7.0}`), &v)
	if want := "/Text: want integer, got number"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error = %v, want %s", err, want)
	}
}

func TestMarshalErrors(t *testing.T) {
	t.Parallel()
	cause := errors.New("own cause")
	tests := []struct {
		v    any
		want string
	}{
		{func() {}, `Go value of type func() has no JSON`},
		{map[string]any{"a": make(chan int)}, `/a: Go value of type chan int has no JSON at byte 5`},
		{"\xff", `invalid UTF-8`},
		{[]float64{1, nan()}, `/1: Go value of type float64 has no JSON: unsupported value: NaN at byte 3`},
		{[]any{failing{cause}}, `/0: Go value of type json_test.failing has no JSON: own cause at byte 1`},
	}
	for _, tt := range tests {
		got, err := json.Marshal(tt.v)
		if err == nil || err.Error() != tt.want {
			t.Errorf("Marshal(%v) = %s, %v\nwant %s", tt.v, got, err, tt.want)
		}
	}
	if _, err := json.Marshal(failing{cause}); !errors.Is(err, cause) {
		t.Errorf("error %v hides its cause", err)
	}
}

type failing struct{ cause error }

func (f failing) MarshalJSON() ([]byte, error) { return nil, f.cause }

func nan() float64 { z := 0.0; return z / z }

func TestCompactAndCanonical(t *testing.T) {
	t.Parallel()
	in := []byte("{ \"b\" : [ 1.0 , \"\\u0061\" ] ,\n\"a\" : 1e2 }")
	kept := string(in)
	if got, err := json.Compact(in); err != nil || string(got) != `{"b":[1.0,"\u0061"],"a":1e2}` {
		t.Errorf("Compact(%s) = %s, %v", in, got, err)
	}
	if got, err := json.Canonical(in); err != nil || string(got) != `{"a":100,"b":[1,"a"]}` {
		t.Errorf("Canonical(%s) = %s, %v", in, got, err)
	}
	if string(in) != kept {
		t.Errorf("the input was changed to %s", in)
	}
	for _, bad := range []string{``, `{`, `{"a":1,"a":1}`, `1 2`} {
		if got, err := json.Compact([]byte(bad)); err == nil {
			t.Errorf("Compact(%s) = %s, want an error", bad, got)
		}
		if got, err := json.Canonical([]byte(bad)); err == nil {
			t.Errorf("Canonical(%s) = %s, want an error", bad, got)
		}
	}
}

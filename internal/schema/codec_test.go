package schema_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/schema"
)

type word string

// read has a schema's form from its tags, and one of its own when it is read.
type read struct{ B int }

func (r *read) UnmarshalJSON([]byte) error { r.B = 7; return nil }

type inner struct {
	A int8   `json:"a"`
	B uint16 `json:"b,omitempty"`
}

type wide struct {
	Text   string            `json:"text" jsonschema:"minLength=2,maxLength=9"`
	Kind   word              `json:"kind,omitempty" jsonschema:"enum=a|b|é"`
	On     bool              `json:"on,omitempty"`
	N      int               `json:"n,omitempty" jsonschema:"minimum=-5,maximum=1000"`
	U      uint8             `json:"u,omitempty"`
	F      float64           `json:"f,omitempty"`
	G      float32           `json:"g,omitempty"`
	P      *int              `json:"p"`
	Q      *inner            `json:"q"`
	R      *inner            `json:"r,omitempty"`
	In     inner             `json:"in,omitzero"`
	List   []string          `json:"list,omitempty" jsonschema:"maxItems=3"`
	Ins    []inner           `json:"ins,omitempty"`
	Bytes  []byte            `json:"bytes,omitempty"`
	Pair   [2]int            `json:"pair,omitzero"`
	Map    map[string]int    `json:"map,omitempty"`
	Any    any               `json:"any,omitempty"`
	Raw    jsontext.Value    `json:"raw,omitempty"`
	At     time.Time         `json:"at,omitzero"`
	For    time.Duration     `json:"for,omitempty"`
	Own    read              `json:"own,omitzero"`
	Self   []wide            `json:"self,omitempty"`
	Named  int               // without a tag
	Str    int               `json:"str,omitempty"`
	Deep   [][]*inner        `json:"deep,omitempty"`
	Maps   []map[string]bool `json:"maps,omitempty"`
	hidden int
}

type quotedNumber struct {
	N int `json:"n,string"`
}

type embeds struct {
	inner
	C int `json:"c"`
}

// decodesAlike compares Decode with what takes two walks.
func decodesAlike[T any](t *testing.T, value string) {
	t.Helper()
	s, err := schema.ForType(reflect.TypeFor[T]())
	if err != nil {
		t.Fatal(err)
	}
	var got, want T
	gotErr := s.Decode([]byte(value), &got)
	wantErr := s.Validate([]byte(value))
	if wantErr == nil {
		wantErr = json.Unmarshal([]byte(value), &want)
	}
	if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
		t.Errorf("Decode(%s) into %T: %v, want %v", value, got, gotErr, wantErr)
	} else if gotErr == nil && !reflect.DeepEqual(got, want) {
		t.Errorf("Decode(%s) = %+v, want %+v", value, got, want)
	}
}

var wideValues = []string{
	`{}`, `{"text":"abc","p":null,"q":null,"Named":1}`,
	`{"text":"abc","p":3,"q":{"a":-3},"Named":-1,"on":true,"n":1000,"u":255,"f":1.5,"g":0.1,"in":{"a":127,"b":65535}}`,
	`{"Named":1,"q":{"b":2,"a":1},"p":null,"text":"a\u00e9\n\"\\"}`,
	`{"text":"abc","p":null,"q":null,"Named":1,"kind":"b","list":[],"ins":[{"a":1},{"a":2,"b":3}],"bytes":"aGk=","pair":[1,2]}`,
	`{"text":"abc","p":null,"q":null,"Named":1,"kind":"\u00e9","list":["x","y","z"],"map":{"k":1},"any":{"x":[1,null]},"raw":[ 1 ]}`,
	`{"text":"abc","p":null,"q":null,"Named":1,"at":"2026-01-02T03:04:05Z","for":5,"own":{"x":1},"self":[{"text":"de","p":1,"q":null,"Named":0}]}`,
	`{"text":"abc","p":null,"q":null,"Named":1,"deep":[[{"a":1}],[]],"maps":[{"x":true},{}]}`,
	`{"text":"abc","p":null,"q":null,"Named":1,"deep":[[null]]}`, `{"text":"abc","p":null,"q":null,"Named":1,"r":null}`,
	`{"text":"a","p":null,"q":null,"Named":1}`, `{"text":"abcdefghij","p":null,"q":null,"Named":1}`, `{"text":null}`,
	`{"text":"abc","p":null,"q":null,"Named":1.0}`, `{"text":"abc","p":1e1,"q":null,"Named":1e2}`, `{"text":"abc","p":null,"q":null,"Named":1.5}`,
	`{"text":"abc","p":null,"q":null,"Named":-0,"f":-0,"u":-0}`, `{"text":"abc","p":null,"q":null,"Named":99999999999999999999}`,
	`{"text":"abc","p":null,"q":null,"Named":9223372036854775807,"f":12345678901234567890}`, `{"text":"abc","p":null,"q":null,"Named":1,"f":1e400}`,
	`{"text":"abc","p":null,"q":null,"Named":1,"u":256}`, `{"text":"abc","p":null,"q":null,"Named":1,"u":-1}`, `{"text":"abc","p":null,"q":{"a":128},"Named":1}`,
	`{"text":"abc","p":null,"q":null,"Named":1,"n":1001}`, `{"text":"abc","p":null,"q":null,"Named":1,"n":-6}`, `{"text":"abc","p":null,"q":null,"Named":1,"kind":"c"}`,
	`{"text":"abc","p":null,"q":null,"Named":1,"list":["a","b","c","d"]}`, `{"text":"abc","p":null,"q":null,"Named":1,"list":null}`,
	`{"text":"abc","p":null,"q":null,"Named":1,"extra":1}`, `{"text":"abc","p":null,"q":null}`, `{"TEXT":"abc","p":null,"q":null,"Named":1}`,
	`{"t\u0065xt":"abc","p":null,"q":null,"Named":1}`, ` { "text" : "abc" , "p" : null , "q" : { "a" : 1 } , "Named" : 1 } `,
	`[]`, `null`, `"x"`, `3`, `true`, `{"text":"abc","p":null,"q":null,"Named":true}`, `{"text":"abc","p":null,"q":null,"Named":1,"on":1}`,
	`{"text":"abc","p":null,"q":null,"Named":1,"bytes":"!"}`, `{"text":"abc","p":null,"q":null,"Named":1,"at":"noon"}`, `{"text":"abc","p":null,"q":null,"Named":1,"pair":[1]}`,
}

func TestDecode(t *testing.T) {
	t.Parallel()
	for _, value := range wideValues {
		decodesAlike[wide](t, value)
		decodesAlike[*wide](t, value)
	}
	for _, value := range []string{`{"n":"1"}`, `{"n":1}`, `{"a":1,"c":2}`, `{"c":2}`, `[[],[[]]]`, `[]`, `"a"`, `{"v":[1],"n":{"v":[]}}`, `{"v":null}`, `null`, `{}`} {
		decodesAlike[quotedNumber](t, value)
		decodesAlike[embeds](t, value)
		decodesAlike[list](t, value)
		decodesAlike[word](t, value)
		decodesAlike[generic[[]int]](t, value)
		decodesAlike[generic[*int]](t, value)
		decodesAlike[struct{}](t, value)
		decodesAlike[map[string]any](t, value)
	}
	var into wide
	s, err := schema.ForType(reflect.TypeFor[addIn]())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Decode([]byte(`{"a":1,"b":2}`), &into); err != nil {
		t.Errorf("Decode into another type: %v", err)
	}
}

type addIn struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

func TestDecodeAllocates(t *testing.T) {
	s, err := schema.ForType(reflect.TypeFor[addIn]())
	if err != nil {
		t.Fatal(err)
	}
	var in addIn
	value := []byte(`{"a":1,"b":2.5}`)
	if got := testing.AllocsPerRun(100, func() {
		if err := s.Decode(value, &in); err != nil {
			t.Fatal(err)
		}
	}); got > 0 {
		t.Errorf("decoding two numbers allocates %v times, want 0", got)
	}
}

func FuzzDecode(f *testing.F) {
	for _, value := range wideValues {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if !jsontext.Value(value).IsValid() {
			return
		}
		decodesAlike[wide](t, value)
		decodesAlike[*generic[[]wide]](t, value)
	})
}

func BenchmarkDecode(b *testing.B) {
	text := `{"text":"` + strings.Repeat("x", 256) + `"}`
	b.Run("echo", func(b *testing.B) {
		decodes[struct {
			Text string `json:"text"`
		}](b, text)
	})
	b.Run("add", func(b *testing.B) { decodes[addIn](b, `{"a":1,"b":2}`) })
	b.Run("wide", func(b *testing.B) { decodes[wide](b, wideValues[2]) })
}

// decodes measures one walk against two.
func decodes[T any](b *testing.B, value string) {
	s, err := schema.ForType(reflect.TypeFor[T]())
	if err != nil {
		b.Fatal(err)
	}
	data := []byte(value)
	for name, decode := range map[string]func(to *T) error{
		"one": func(to *T) error { return s.Decode(data, to) },
		"two": func(to *T) error { return errors.Join(s.Validate(data), json.Unmarshal(data, to)) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var to T
				if err := decode(&to); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

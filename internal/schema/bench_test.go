package schema_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/internal/schema"
)

type sum struct {
	A int `json:"a"`
	B int `json:"b"`
}

var sumValue = []byte(`{"a":1,"b":2}`)

// The budget is two allocations; a value that matches needs none.
func TestValidateAllocations(t *testing.T) {
	s, err := schema.ForType(reflect.TypeFor[sum]())
	if err != nil {
		t.Fatal(err)
	}
	got := testing.AllocsPerRun(100, func() {
		if err := s.Validate(sumValue); err != nil {
			t.Fatal(err)
		}
	})
	if got > 0 {
		t.Errorf("Validate(%s) allocates %v times, want 0", sumValue, got)
	}
}

func BenchmarkValidateInferred(b *testing.B) {
	s, err := schema.ForType(reflect.TypeFor[sum]())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Validate(sumValue); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkValidateLibrary has a keyword that the fast check leaves alone.
func BenchmarkValidateLibrary(b *testing.B) {
	s := compile(b, `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"],"additionalProperties":false,"minProperties":1}`)
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Validate(sumValue); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkValidateWrong(b *testing.B) {
	s, err := schema.ForType(reflect.TypeFor[sum]())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Validate([]byte(`{"a":"1","b":2}`)); err == nil {
			b.Fatal("got nil, want an error")
		}
	}
}

func BenchmarkValidateLarge(b *testing.B) {
	value := []byte(`{"n":{"name":"a","to":[` + strings.TrimSuffix(strings.Repeat(`{"next":{"from":null}},`, 1000), ",") + `]},"m":{}}`)
	s, err := schema.ForType(reflect.TypeFor[holder]())
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(value)))
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Validate(value); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompileInferred(b *testing.B) {
	raw, err := schema.For[holder]()
	if err != nil {
		b.Fatal(err)
	}
	benchCompile(b, raw)
}

func BenchmarkCompileLibrary(b *testing.B) {
	benchCompile(b, json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"}},"minProperties":1}`))
}

func BenchmarkCompileWide(b *testing.B) {
	var s strings.Builder
	for i := range 2400 {
		fmt.Fprintf(&s, `,"p%d":{"type":"string","x-n":{"a":1}}`, i)
	}
	benchCompile(b, json.RawMessage(`{"minProperties":1,"properties":{`+s.String()[1:]+`}}`))
}

func benchCompile(b *testing.B, raw json.RawMessage) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := schema.Compile(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkInfer(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := schema.For[holder](); err != nil {
			b.Fatal(err)
		}
	}
}

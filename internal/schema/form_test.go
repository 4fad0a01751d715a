package schema_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/internal/schema"
)

func TestInferForm(t *testing.T) {
	t.Parallel()
	type base struct {
		Email string `json:"email" jsonschema:"format=email,description=Where, exactly"`
	}
	type form struct {
		base
		Name  *string   `json:"name"            jsonschema:"your name"`
		Age   uint      `json:"age"             jsonschema:"title=Age,maximum=150,default=30"`
		Ratio float64   `json:"ratio,omitempty"`
		Yes   bool      `json:"yes,omitzero"    jsonschema:"default=true"`
		When  time.Time `json:"when"`
		One   string    `json:"one"             jsonschema:"enum=a|b"`
		Named string    `json:"named"           jsonschema:"enum=a|b,titles=A|B,default=b"`
		Many  []string  `json:"many"            jsonschema:"enum=a|b,minItems=1"`
		Both  []string  `json:"both"            jsonschema:"titles=A|B,enum=a|b"`
		inner int
	}
	got, err := schema.InferForm(reflect.TypeFor[*form]())
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"object","properties":{` +
		`"email":{"type":"string","description":"Where, exactly","format":"email"},` +
		`"name":{"type":"string","description":"your name"},` +
		`"age":{"type":"integer","title":"Age","minimum":0,"maximum":150,"default":30},` +
		`"ratio":{"type":"number"},"yes":{"type":"boolean","default":true},"when":{"type":"string","format":"date-time"},` +
		`"one":{"type":"string","enum":["a","b"]},` +
		`"named":{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}],"default":"b"},` +
		`"many":{"type":"array","items":{"type":"string","enum":["a","b"]},"minItems":1},` +
		`"both":{"type":"array","items":{"anyOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]}}},` +
		`"required":["email","age","when","one","named","many","both"]}`
	if string(raw) != want {
		t.Errorf("got  %s\nwant %s", raw, want)
	}
	_ = form{}.inner
}

func TestInferFormRefuses(t *testing.T) {
	t.Parallel()
	type recursive struct{ Next *recursive }
	tests := []struct {
		v    any
		want string
	}{
		{1, "needs a struct"},
		{time.Time{}, "needs a struct"},
		{struct{ A struct{ B int } }{}, ".A: forms have no properties"},
		{recursive{}, "recursive.Next: forms have no $ref"},
		{struct{ A []string }{}, ".A: "},
		{struct{ A []int }{}, ".A: "},
		{struct{ A map[string]string }{}, ".A: "},
		{struct{ A any }{}, ".A: "},
		{struct{ A chan int }{}, ".A: "},
		{struct{ A []byte }{}, ".A: forms have no contentEncoding"},
		{struct {
			A string `jsonschema:"pattern=^a"`
		}{}, ".A: forms have no pattern"},
		{struct {
			A string `jsonschema:"format=password"`
		}{}, `no format "password"`},
		{struct {
			A int `jsonschema:"enum=1|2"`
		}{}, ".A: "},
		{struct {
			A string `jsonschema:"enum=a|b,titles=A"`
		}{}, "1 titles for 2 values"},
		{struct {
			A string `jsonschema:"titles=A"`
		}{}, "1 titles for 0 values"},
		{struct {
			A string `jsonschema:"enum=a|b,default=c"`
		}{}, "default: must be one of"},
	}
	for _, tt := range tests {
		if form, err := schema.InferForm(reflect.TypeOf(tt.v)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%T: got %v, %v, want an error with %q", tt.v, form, err, tt.want)
		}
	}
	type titled struct {
		A []string `jsonschema:"enum=a,titles=A"`
	}
	if _, err := schema.For[titled](); err == nil || !strings.Contains(err.Error(), "titled.A: jsonschema tag: titles are for") {
		t.Errorf("titles outside of a form: got %v", err)
	}
}

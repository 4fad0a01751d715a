package schema_test

import (
	"fmt"

	"github.com/ferrymcp/ferry/internal/schema"
)

func ExampleCompile() {
	s, err := schema.Compile([]byte(`{"type":"object","properties":{"count":{"type":"integer"}},"required":["count"]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Validate([]byte(`{"count":3}`)))
	fmt.Println(s.Validate([]byte(`{"count":"3"}`)))
	_, err = schema.Compile([]byte(`{"$ref":"http://example.com/schema"}`))
	fmt.Println(err)
	// Output:
	// <nil>
	// /count: expected integer, got string
	// $ref at the root: reference to http://example.com/schema refused: schemas are not fetched
}

func ExampleFor() {
	type weather struct {
		City string   `json:"city" jsonschema:"name of the city"`
		Unit string   `json:"unit,omitempty" jsonschema:"enum=C|F"`
		Days *float64 `json:"days,omitempty" jsonschema:"minimum=1"`
	}
	raw, err := schema.For[weather]()
	fmt.Println(string(raw), err)
	// Output:
	// {"type":"object","properties":{"city":{"type":"string","description":"name of the city"},"unit":{"type":"string","enum":["C","F"]},"days":{"type":"number","minimum":1}},"required":["city"],"additionalProperties":false} <nil>
}

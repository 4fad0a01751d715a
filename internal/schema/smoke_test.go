package schema_test

import (
	"github.com/ferrymcp/ferry/internal/schema"
	"testing"
)

type tree struct {
	Name string `json:"name" jsonschema:"the name"`
	Kids []tree `json:"kids,omitempty"`
	L    *tree  `json:"l"`
	N    leaf
}
type leaf struct {
	A int
	R *leaf
	T *tree
	U []byte
	M map[string]uint `json:",omitzero" jsonschema:"description=a, b"`
}

func TestSmoke(t *testing.T) {
	raw, err := schema.For[tree]()
	t.Log(string(raw), err)
	s, err := schema.Compile(raw)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(s.Validate([]byte(`{"name":3,"kids":[{"x":1}],"l":4,"N":{"A":1.5,"U":"","R":null,"T":null,"M":{"a":-1}}}`)))
	t.Log(s.Validate([]byte(`{"name":"x","l":null,"N":{"A":1,"U":"","R":null,"T":null}}`)))
	t.Log(s.Validate([]byte(`{"name":"x","l":null,"N":{"A":1e100000,"U":"","R":null,"T":null}}`)))
}

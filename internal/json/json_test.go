package json_test

import (
	"bytes"
	stdjson "encoding/json"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/internal/json"
)

type level int8

type sample struct {
	Name  string             `json:"name"`
	Count int                `json:"count"`
	Level level              `json:"level,omitzero"`
	Size  *uint16            `json:"size,omitzero"`
	Ratio float64            `json:"ratio,omitzero"`
	Wait  time.Duration      `json:"wait,omitempty"`
	List  []int              `json:"list,omitempty"`
	Raw   stdjson.RawMessage `json:"raw,omitzero"`
	Flag  bool               `json:"flag,omitempty"`
	At    *time.Time         `json:"at,omitzero"`
	Data  []byte             `json:"data,omitzero"`
}

func TestMarshal(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		v    any
		want string
	}{
		{"map in order", map[string]int{"b": 1, "a": 2, "c": 3}, `{"a":2,"b":1,"c":3}`},
		{"empty", sample{}, `{"name":"","count":0}`},
		{"duration", sample{Wait: time.Second}, `{"name":"","count":0,"wait":1000000000}`},
		{"raw compacted, spelling kept", stdjson.RawMessage("{ \"a\\u0062\" :\n[ 1.0, 1e2 ] }"), `{"a\u0062":[1.0,1e2]}`},
		{"no HTML escapes", "<&>", `"<&>"`},
		{"nil slice", []int(nil), `[]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := json.Marshal(tt.v)
			if err != nil || string(got) != tt.want {
				t.Errorf("Marshal(%v) = %s, %v, want %s", tt.v, got, err, tt.want)
			}
			buf := bytes.NewBufferString("x")
			if err := json.Write(buf, tt.v); err != nil || buf.String() != "x"+tt.want {
				t.Errorf("Write(%v) = %s, %v, want x%s", tt.v, buf, err, tt.want)
			}
		})
	}
}

func TestWriteErrorLeavesBuffer(t *testing.T) {
	t.Parallel()
	for _, v := range []any{
		[]any{"many", func() {}},
		stdjson.RawMessage(`1},"x":{"y":1`),
		map[string]any{"a": stdjson.RawMessage(`{"x":1,"x":2}`)},
		"bad \xff text",
		make(chan int),
	} {
		buf := bytes.NewBufferString("before")
		if err := json.Write(buf, v); err == nil || buf.String() != "before" {
			t.Errorf("Write(%#v) = %q, %v, want an error and the buffer as it was", v, buf, err)
		}
	}
}

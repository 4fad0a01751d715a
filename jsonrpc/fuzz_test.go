package jsonrpc_test

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/ferrymcp/ferry/jsonrpc"
)

var seeds = []string{
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":[1,-2.5e+3,true,null,"\u00e9😀\ud83d\ude00"]}}}`,
	`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
	`{"jsonrpc":"2.0","id":"a","result":{"content":[{"type":"text","text":"héllo\n"}]}}`,
	`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x","data":{"a":{}}}}`,
	`{"jsonrpc":"2.0","id":1,"m\u0065thod":"a","method":"b"}`,
	`{"a":{"b":{"c":1,"c":2}}}`,
	`[{"jsonrpc":"2.0","method":"a"}, 1 ,{"id":1}]`,
	"{\"a\":\"\xff\"}", `["\ud800"]`, `[1,]`, `[01]`, `tru`, ` 1 2`, `{"":"","\u0000":1}`, "\"\x1f\"",
}

// FuzzDecode holds our reading of JSON against that of another strict reader.
func FuzzDecode(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		before := bytes.Clone(frame)
		m, err := jsonrpc.Limits{Depth: 10000}.Decode(frame)
		if !bytes.Equal(before, frame) {
			t.Fatalf("Decode changed the frame %q to %q", before, frame)
		}
		var members map[string]jsontext.Value
		var wire *jsonrpc.Error
		grammar := !errors.As(err, &wire) || wire.Code != jsonrpc.CodeParse
		if valid := jsontext.Value(frame).IsValid(); valid != grammar {
			t.Fatalf("Decode(%q) = %v, jsontext says valid: %v", frame, err, valid)
		}
		if err != nil {
			return
		}
		if err := jsonv2.Unmarshal(frame, &members); err != nil {
			t.Fatalf("Decode accepts %q: %v", frame, err)
		}
		checkMembers(t, frame, &m, members)
	})
}

// checkMembers compares a message with the members that another reader found.
func checkMembers(t *testing.T, frame []byte, m *jsonrpc.Message, members map[string]jsontext.Value) {
	t.Helper()
	notNull := func(name string) string {
		if v := string(members[name]); v != "null" {
			return v
		}
		return ""
	}
	if m.ID.String() != notNull("id") {
		t.Errorf("Decode(%q) id = %s, want %s", frame, m.ID, members["id"])
	}
	if m.Kind() == jsonrpc.Response {
		if string(m.Result) != string(members["result"]) || (m.Error == nil) != (members["error"] == nil) {
			t.Errorf("Decode(%q) = %+v, want %s", frame, m, members)
		}
		return
	}
	var method string
	if err := jsonv2.Unmarshal(members["method"], &method); err != nil || m.Method != method {
		t.Errorf("Decode(%q) method = %q, want %q, %v", frame, m.Method, method, err)
	}
	if string(m.Params) != notNull("params") {
		t.Errorf("Decode(%q) params = %s, want %s", frame, m.Params, members["params"])
	}
}

// FuzzDecodeBatch checks that a batch is read as its members are one by one.
func FuzzDecodeBatch(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte("[" + s + "]"))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		items, err := jsonrpc.Limits{Depth: 10000}.DecodeBatch(frame)
		if err != nil {
			if len(items) != 0 {
				t.Fatalf("DecodeBatch(%q) = %v, %v, want no items", frame, items, err)
			}
			return
		}
		var parts []jsontext.Value
		if err := jsonv2.Unmarshal(frame, &parts); err != nil || len(parts) != len(items) || !jsonrpc.IsBatch(frame) {
			t.Fatalf("DecodeBatch(%q) has %d items, want %d, %v", frame, len(items), len(parts), err)
		}
		for i, part := range parts {
			m, err := jsonrpc.Limits{Depth: 10000}.Decode(part)
			if (err == nil) != (items[i].Err == nil) || m.ID != items[i].ID || m.Method != items[i].Method ||
				!bytes.Equal(m.Params, items[i].Params) || !bytes.Equal(m.Result, items[i].Result) {
				t.Errorf("DecodeBatch(%q) item %d = %+v, alone %+v, %v", frame, i, items[i], m, err)
			}
		}
	})
}

// FuzzWrite checks that what is written is one line and reads as it was meant.
func FuzzWrite(f *testing.F) {
	f.Add("tools/call", "id", []byte(`{"a": [1, 2]}`))
	f.Add("é\x00\"", "\xff", []byte("[\n]"))
	f.Add("m", "", []byte(`1},"x":{"y":1`))
	f.Add("m", "", []byte(`null`))
	f.Fuzz(func(t *testing.T, method, idText string, params []byte) {
		var buf bytes.Buffer
		id := jsonrpc.StringID(idText)
		jsonrpc.WriteError(&buf, id, &jsonrpc.Error{Code: 1, Message: method, Data: params})
		m := readBack(t, &buf, id)
		if m != nil && m.Error == nil {
			t.Errorf("wrote %s, which has no error", &buf)
		}
		buf.Reset()
		if jsonrpc.WriteResult(&buf, id, stdjson.RawMessage(params)) == nil {
			if m := readBack(t, &buf, id); m != nil && m.Result == nil {
				t.Errorf("wrote %s, which has no result", &buf)
			}
		}
		buf.Reset()
		if err := jsonrpc.WriteRequest(&buf, id, method, stdjson.RawMessage(params)); err != nil {
			if buf.Len() > 0 {
				t.Errorf("WriteRequest(%q, %q): %v, and left %s", method, params, err, &buf)
			}
			return
		}
		m = readBack(t, &buf, id)
		if m == nil {
			return
		}
		want := jsontext.Value(bytes.Clone(params))
		if err := want.Format(jsontext.PreserveRawStrings(true)); len(params) > 0 && err != nil {
			t.Fatalf("WriteRequest accepts params %q: %v", params, err)
		}
		if got := string(m.Params); got != string(want) && (got != "" || string(want) != "null") {
			t.Errorf("wrote params %s, want %s", got, want)
		}
	})
}

// readBack decodes what was written; nil when the id was too long to read.
func readBack(t *testing.T, buf *bytes.Buffer, id jsonrpc.ID) *jsonrpc.Message {
	t.Helper()
	if bytes.ContainsAny(buf.Bytes(), "\r\n") {
		t.Fatalf("wrote %q, which is not one line", buf)
	}
	if len(id.String()) > 1024 {
		return nil
	}
	m, err := jsonrpc.Limits{Depth: 10000}.Decode(bytes.Clone(buf.Bytes()))
	if err != nil || m.ID != id {
		t.Fatalf("wrote %s, which reads as %+v, %v", buf, m, err)
	}
	return &m
}

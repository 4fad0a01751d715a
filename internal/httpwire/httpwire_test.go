package httpwire_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/mcptest"
)

func TestHeaderNamesAreCanonical(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		httpwire.HeaderSessionID, httpwire.HeaderProtocolVersion, httpwire.HeaderMethod, httpwire.HeaderName,
		httpwire.HeaderLastEventID, httpwire.HeaderParamPrefix, httpwire.HeaderAccelBuffering,
	} {
		if got := http.CanonicalHeaderKey(name); got != name {
			t.Errorf("canonical form of %q is %q", name, got)
		}
	}
}

func TestValidSessionID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"": false, "abc-123": true, "!~": true, "a b": false, "a\x7f": false, "é": false, "a\n": false,
	} {
		if got := httpwire.ValidSessionID(id); got != want {
			t.Errorf("ValidSessionID(%q) = %v, want %v", id, got, want)
		}
	}
}

func TestValidToken(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"": false, "Region": true, "a-b_c.9": true, "!#$%&'*+-.^_`|~": true, "a b": false, "a:": false, "a\r": false, "ü": false,
	} {
		if got := httpwire.ValidToken(s); got != want {
			t.Errorf("ValidToken(%q) = %v, want %v", s, got, want)
		}
	}
}

func TestEncodeValue(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-ENC-BASE64", "HTTP-ENC-SENTINEL-ESCAPE", "HTTP-ENC-MARKERS")
	for value, want := range map[string]string{
		"us-west1":                     "us-west1",
		"":                             "",
		"a b":                          "a b",
		"Hello, 世界":                    "=?base64?SGVsbG8sIOS4lueVjA==?=",
		" padded ":                     "=?base64?IHBhZGRlZCA=?=",
		"line1\nline2":                 "=?base64?bGluZTEKbGluZTI=?=",
		"=?base64?literal?=":           "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=",
		"=?base64?=":                   "=?base64?PT9iYXNlNjQ/PQ==?=",
		"=?BASE64?literal?=":           "=?BASE64?literal?=",
		"=?base64?open":                "=?base64?open",
		"a\tb":                         "=?base64?YQli?=",
		"file:///projects/x/conf.json": "file:///projects/x/conf.json",
	} {
		if got := httpwire.EncodeValue(value); got != want {
			t.Errorf("EncodeValue(%q) = %q, want %q", value, got, want)
		}
		if got, err := httpwire.DecodeValue(want); got != value || err != nil {
			t.Errorf("DecodeValue(%q) = %q, %v; want %q", want, got, err, value)
		}
	}
}

func TestDecodeValue(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-ENC-MARKERS")
	tests := []struct {
		value, want string
		err         error
	}{
		{"a\tb", "a\tb", nil},
		{"=?base64?Zm9v?=", "foo", nil},
		{"=?base64??=", "", nil},
		{"=?Base64?Zm9v?=", "=?Base64?Zm9v?=", nil},
		{"=?base64?Zm9vYg?=", "", httpwire.ErrValueEncoding},   // padding missing
		{"=?base64?Zm9vYh==?=", "", httpwire.ErrValueEncoding}, // trailing bits
		{"=?base64?Zm 9v?=", "", httpwire.ErrValueEncoding},
		{"=?base64?Zm9-?=", "", httpwire.ErrValueEncoding},
		{"=?base64?=", "", httpwire.ErrValueEncoding},
		{"=?base64?/w==?=", "", httpwire.ErrValueUTF8},
		{"é", "", httpwire.ErrValueCharacter},
		{"a\x00", "", httpwire.ErrValueCharacter},
		{"a\r\nb", "", httpwire.ErrValueCharacter},
	}
	for _, tt := range tests {
		got, err := httpwire.DecodeValue(tt.value)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("DecodeValue(%q) = %q, %v; want %q, %v", tt.value, got, err, tt.want, tt.err)
		}
	}
}

func FuzzValue(f *testing.F) {
	for _, s := range []string{"", "a", " a", "=?base64?Zm9v?=", "=?base64?=", "世界", "a\tb"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if decoded, err := httpwire.DecodeValue(s); err == nil && !utf8.ValidString(decoded) {
			t.Fatalf("DecodeValue(%q) = %q, which is not UTF-8", s, decoded)
		}
		encoded := httpwire.EncodeValue(s)
		if strings.TrimSpace(encoded) != encoded {
			t.Fatalf("EncodeValue(%q) = %q has outer space", s, encoded)
		}
		got, err := httpwire.DecodeValue(encoded)
		if !utf8.ValidString(s) {
			if err == nil {
				t.Fatalf("DecodeValue(EncodeValue(%q)) = %q, want an error", s, got)
			}
			return
		}
		if err != nil || got != s {
			t.Fatalf("DecodeValue(EncodeValue(%q)) = %q, %v", s, got, err)
		}
	})
}

func TestAccepts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		accept    []string
		json, sse bool
	}{
		{nil, true, true},
		{[]string{""}, false, false},
		{[]string{httpwire.AcceptBoth}, true, true},
		{[]string{"application/json", "text/event-stream"}, true, true},
		{[]string{"Application/JSON;q=0.5"}, true, false},
		{[]string{"*/*"}, true, true},
		{[]string{"*/*, text/event-stream;q=0"}, true, false},
		{[]string{"text/event-stream; q=0.0, text/*"}, false, false},
		{[]string{"text/*"}, false, true},
		{[]string{"text/html, application/xml"}, false, false},
		{[]string{"application/json; charset=utf-8 ; q=1"}, true, false},
		{[]string{"application/json;q=0, application/json"}, true, false},
		{[]string{"application/jsonp"}, false, false},
	}
	for _, tt := range tests {
		if got := httpwire.Accepts(tt.accept, httpwire.TypeJSON); got != tt.json {
			t.Errorf("Accepts(%q, json) = %v, want %v", tt.accept, got, tt.json)
		}
		if got := httpwire.Accepts(tt.accept, httpwire.TypeSSE); got != tt.sse {
			t.Errorf("Accepts(%q, sse) = %v, want %v", tt.accept, got, tt.sse)
		}
	}
}

func TestContentType(t *testing.T) {
	t.Parallel()
	tests := []struct {
		value     string
		json, sse bool
	}{
		{"application/json", true, false},
		{"application/json; charset=utf-8", true, false},
		{"Application/Json;charset=UTF-8", true, false},
		{"application/json; charset=latin1", false, false},
		{"application/json; =", true, false},
		{"text/event-stream", false, true},
		{"text/event-stream; charset=utf-8", false, true},
		{"text/plain", false, false},
		{"", false, false},
		{"application/json, text/plain", false, false},
	}
	for _, tt := range tests {
		if got := httpwire.IsJSON(tt.value); got != tt.json {
			t.Errorf("IsJSON(%q) = %v, want %v", tt.value, got, tt.json)
		}
		if got := httpwire.IsSSE(tt.value); got != tt.sse {
			t.Errorf("IsSSE(%q) = %v, want %v", tt.value, got, tt.sse)
		}
	}
}

func TestWriteEvent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		event httpwire.Event
		want  string
	}{
		{httpwire.Event{Data: []byte(`{}`)}, "data: {}\n\n"},
		{httpwire.Event{Name: "message", ID: "7", Retry: 1500 * time.Millisecond, Data: []byte("x")}, "event: message\nid: 7\nretry: 1500\ndata: x\n\n"},
		{httpwire.Event{ID: "1"}, "id: 1\ndata: \n\n"},
		{httpwire.Event{Data: []byte("a\nb\r\nc\rd\n")}, "data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n"},
		{httpwire.Event{Name: "a\nb", ID: "a\x00", Data: []byte("x")}, "data: x\n\n"},
	}
	for _, tt := range tests {
		var buf bytes.Buffer
		httpwire.WriteEvent(&buf, tt.event)
		if got := buf.String(); got != tt.want {
			t.Errorf("WriteEvent(%+v) = %q, want %q", tt.event, got, tt.want)
		}
	}
	var buf bytes.Buffer
	httpwire.BeginEvent(&buf, httpwire.Event{ID: "1"})
	buf.WriteString("{}")
	httpwire.EndEvent(&buf)
	if got, want := buf.String(), "id: 1\ndata: {}\n\n"; got != want {
		t.Errorf("BeginEvent … EndEvent = %q, want %q", got, want)
	}
}

// readAll reads all events, copied, and the error that ended the stream.
func readAll(r *httpwire.Reader) ([]httpwire.Event, error) {
	var events []httpwire.Event
	for {
		e, err := r.Next()
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
}

var readerTests = []struct {
	name, in string
	want     []httpwire.Event
	err      error
	lastID   string
}{
	{"empty", "", nil, io.EOF, ""},
	{"one", "data: x\n\n", []httpwire.Event{{Data: []byte("x")}}, io.EOF, ""},
	{"no space, one space, two spaces", "data:x\n\ndata: x\n\ndata:  x\n\n", []httpwire.Event{{Data: []byte("x")}, {Data: []byte("x")}, {Data: []byte(" x")}}, io.EOF, ""},
	{"crlf", "event: message\r\nid: 1\r\ndata: x\r\n\r\ndata: y\r\n\r\n", []httpwire.Event{{Name: "message", ID: "1", Data: []byte("x")}, {Data: []byte("y")}}, io.EOF, "1"},
	{"cr", "data: x\r\rdata: y\r\r", []httpwire.Event{{Data: []byte("x")}, {Data: []byte("y")}}, io.EOF, ""},
	{"byte order mark", "\ufeffdata: x\n\n", []httpwire.Event{{Data: []byte("x")}}, io.EOF, ""},
	{"only a mark in the first line", "\ufeff\ndata: x\n\n", []httpwire.Event{{Data: []byte("x")}}, io.EOF, ""},
	{"comments", ": hi\n\n:\n\ndata: x\n: within\n\n:end\n", []httpwire.Event{{Data: []byte("x")}}, io.EOF, ""},
	{"many lines", "data: a\ndata\ndata: b\n\n", []httpwire.Event{{Data: []byte("a\n\nb")}}, io.EOF, ""},
	{"priming", "id: 9\ndata:\n\n", []httpwire.Event{{ID: "9", Data: []byte{}}}, io.EOF, "9"},
	{"id alone", "id: 9\n\n", nil, io.EOF, "9"},
	{"id reset", "id: 9\n\nid\ndata: x\n\n", []httpwire.Event{{Data: []byte("x")}}, io.EOF, ""},
	{"id with nul", "id: 9\n\nid: a\x00b\n\n", nil, io.EOF, "9"},
	{"retry", "retry: 20\ndata: x\n\nretry: 1x\ndata: y\n\nretry: 99999999999999999999\n\n", []httpwire.Event{{Retry: 20 * time.Millisecond, Data: []byte("x")}, {Data: []byte("y")}}, io.EOF, ""},
	{"other names", "event: endpoint\ndata: /x\n\nevent: ping\nfoo: bar\ndata: y\n\n", []httpwire.Event{{Name: "endpoint", Data: []byte("/x")}, {Name: "ping", Data: []byte("y")}}, io.EOF, ""},
	{"event ends early", "data: x\n\ndata: y\n", []httpwire.Event{{Data: []byte("x")}}, io.ErrUnexpectedEOF, ""},
	{"id of an event that ends early", "id: 1\ndata: x\n\nid: 2\ndata: y\n", []httpwire.Event{{ID: "1", Data: []byte("x")}}, io.ErrUnexpectedEOF, "1"},
	{"line ends early", "data: x\n\ndata: y", []httpwire.Event{{Data: []byte("x")}}, io.ErrUnexpectedEOF, ""},
}

func TestReader(t *testing.T) {
	t.Parallel()
	for _, tt := range readerTests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			check := func(how string, in io.Reader) {
				r := httpwire.NewReader(in, 0)
				got, err := readAll(r)
				if diff := cmp.Diff(tt.want, got); diff != "" || err != tt.err || r.LastID() != tt.lastID {
					t.Errorf("%s: %q: error %v, want %v; last id %q, want %q; events (-want +got):\n%s", how, tt.in, err, tt.err, r.LastID(), tt.lastID, diff)
				}
				if _, again := r.Next(); again != err {
					t.Errorf("%s: second error = %v, want %v", how, again, err)
				}
			}
			check("whole", strings.NewReader(tt.in))
			check("byte by byte", iotest.OneByteReader(strings.NewReader(tt.in)))
			for i := range tt.in {
				check(fmt.Sprintf("split at %d", i), io.MultiReader(strings.NewReader(tt.in[:i]), strings.NewReader(tt.in[i:])))
			}
		})
	}
}

func TestReaderDoesNotWaitForMore(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"data: x\n\n", "data: x\r\r", "data: x\r\n\r\n"} {
		pr, pw := io.Pipe()
		defer pr.Close()
		go func() { _, _ = io.WriteString(pw, in) }()
		if e, err := httpwire.NewReader(pr, 0).Next(); string(e.Data) != "x" || err != nil {
			t.Errorf("%q: Next = %q, %v", in, e.Data, err)
		}
	}
}

func TestReaderLimit(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 200_000)
	tests := []struct {
		name, in string
		limit    int
		want     error
	}{
		{"fits", "data: " + big + "\n\n", 0, io.EOF},
		{"long line", "data: " + big + "\n\n", 100_000, httpwire.ErrEventTooLarge},
		{"short line", "data: xxxxxxxxxx\n\n", 10, httpwire.ErrEventTooLarge},
		{"many lines", strings.Repeat("data: xxx\n", 1000), 500, httpwire.ErrEventTooLarge},
		{"long comment", ":" + big, 100_000, httpwire.ErrEventTooLarge},
		{"many comments", strings.Repeat(":"+big+"\n", 3), 300_000, io.EOF},
	}
	for _, tt := range tests {
		r := httpwire.NewReader(strings.NewReader(tt.in), tt.limit)
		if events, err := readAll(r); !errors.Is(err, tt.want) {
			t.Errorf("%s: %d events, error %v, want %v", tt.name, len(events), err, tt.want)
		}
	}
}

func TestReaderKeepsDataApart(t *testing.T) {
	t.Parallel()
	a, b := strings.Repeat("a", 10_000), strings.Repeat("b", 10_000)
	r := httpwire.NewReader(strings.NewReader("data: "+a+"\n\ndata: "+b+"\n\ndata: x\n\ndata: y\n\n"), 0)
	got, _ := readAll(r)
	var text []string
	for _, e := range got {
		text = append(text, string(e.Data))
	}
	if diff := cmp.Diff([]string{a, b, "x", "y"}, text); diff != "" {
		t.Errorf("events differ (-want +got):\n%s", diff)
	}
	r.Reset(strings.NewReader("retry: 5\nid: 3\ndata: z\n\n"))
	if e, err := r.Next(); string(e.Data) != "z" || err != nil || r.LastID() != "3" || r.Retry() != 5*time.Millisecond {
		t.Errorf("after Reset: %+v, %v, last id %q, retry %v", e, err, r.LastID(), r.Retry())
	}
}

func FuzzReader(f *testing.F) {
	for _, tt := range readerTests {
		f.Add([]byte(tt.in), 3)
	}
	f.Fuzz(func(t *testing.T, in []byte, cut int) {
		whole, wholeErr := readAll(httpwire.NewReader(bytes.NewReader(in), 1000))
		cut = max(0, min(cut, len(in)))
		split, splitErr := readAll(httpwire.NewReader(iotest.OneByteReader(io.MultiReader(bytes.NewReader(in[:cut]), bytes.NewReader(in[cut:]))), 1000))
		if diff := cmp.Diff(whole, split, cmpopts.EquateEmpty()); diff != "" || wholeErr != splitErr {
			t.Fatalf("%q: error %v whole, %v split; events (-whole +split):\n%s", in, wholeErr, splitErr, diff)
		}
		// What was read can be written and read again.
		var buf bytes.Buffer
		for _, e := range whole {
			httpwire.WriteEvent(&buf, e)
		}
		again, err := readAll(httpwire.NewReader(&buf, 10000))
		if diff := cmp.Diff(whole, again, cmpopts.EquateEmpty()); diff != "" || err != io.EOF {
			t.Fatalf("%q: read again: %v (-want +got):\n%s", in, err, diff)
		}
	})
}

func BenchmarkReader(b *testing.B) {
	for _, size := range []int{100, 64 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			var buf bytes.Buffer
			httpwire.WriteEvent(&buf, httpwire.Event{Name: "message", Data: bytes.Repeat([]byte("x"), size)})
			in := bytes.NewReader(buf.Bytes())
			r := httpwire.NewReader(in, 0)
			b.SetBytes(int64(buf.Len()))
			b.ReportAllocs()
			for b.Loop() {
				in.Reset(buf.Bytes())
				r.Reset(in)
				if _, err := r.Next(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

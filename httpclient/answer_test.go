package httpclient_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/transport"
)

const (
	jsonType = "application/json"
	sseType  = "text/event-stream"
	note     = `{"jsonrpc":"2.0","method":"notifications/progress"}`
	ask      = `{"jsonrpc":"2.0","id":"s1","method":"roots/list"}`
)

func rpcError(id string, code int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0"%s,"error":{"code":%d,"message":"no"}}`, id, code)
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-REQUEST-RESPONSE-BOTH", "HTTP-SSE-IGNORE-COMMENTS", "HTTP-SSE-BATCHED", "HTTP-DUAL-INSPECT-400",
		"SCH-ERRRESP-ID-OPTIONAL")
	tests := []struct {
		name        string
		status      int
		contentType string
		body        string
		want        string
		messages    []string
		stray       string
	}{
		{"JSON", 200, jsonType, result(1), `200 {"n":1}`, nil, ""},
		{"JSON with parameters", 200, "application/json; charset=utf-8", result(1), `200 {"n":1}`, nil, ""},
		{"JSON without a type", 200, "", result(1), `200 {"n":1}`, nil, ""},
		{"JSON error", 200, jsonType, rpcError(`,"id":1`, -32602), "200 error no (-32602)", nil, ""},
		{"JSON error without id", 200, jsonType, rpcError("", -32600), "200 error no (-32600)", nil, ""},
		{"JSON batch", 200, jsonType, "[" + note + "," + result(1) + "," + ask + "]", `200 {"n":1}`, []string{"notifications/progress@1", "roots/list@1"}, ""},
		{"JSON of another request", 200, jsonType, result(2), `failed: answer ended without the response: response to unknown request "2"`, nil, `unknown request "2"`},
		{"JSON id of another type", 200, jsonType, `{"jsonrpc":"2.0","id":"1","result":{}}`, `failed: answer ended without the response: response to unknown request "\"1\""`, nil, "unknown request"},
		{"JSON broken", 200, jsonType, `{"jsonrpc":`, `failed: answer ended without the response`, nil, `{"jsonrpc":`},
		{"empty batch", 200, jsonType, `[]`, `failed: answer ended without the response`, nil, "[]"},
		{"both result and error", 200, jsonType, `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}`, "failed: malformed response", nil, ""},
		{"nothing", 202, "", "", "failed: answer ended without the response", nil, ""},
		{"web page", 200, "text/html", "<html>\x1b[1m\nhi", `failed: server answered 200 OK with a body of type "text/html", which is not an MCP answer: <html>[1m hi`, nil, ""},

		{"stream", 200, sseType, "data: " + note + "\n\ndata: " + ask + "\n\ndata: " + result(1) + "\n\n", `200 {"n":1}`, []string{"notifications/progress@1", "roots/list@1"}, ""},
		{"stream with all fields", 200, sseType + ";charset=utf-8", "\ufeff: hi\r\nretry: 10\r\nid: 1\r\ndata:\r\n\r\nevent: message\r\nid: 2\r\ndata: " + result(1) + "\r\n\r\n", `200 {"n":1}`, nil, ""},
		{"stream with other events", 200, sseType, "event: ping\ndata: " + result(1) + "\n\nevent: message\ndata: " + rpcError(`,"id":1`, 5) + "\n\n", "200 error no (5)", nil, ""},
		{"stream with batches", 200, sseType, "data: [" + note + "]\n\ndata: [" + result(2) + "," + result(1) + "]\n\n", `200 {"n":1}`, []string{"notifications/progress@1"}, "unknown request"},
		{"stream with more after the response", 200, sseType, "data: " + result(1) + "\n\ndata: " + note + "\n\n", `200 {"n":1}`, nil, ""},
		{"stream with rubbish", 200, sseType, "data: rubbish\n\ndata: " + result(1) + "\n\n", `200 {"n":1}`, nil, "rubbish"},
		{"stream without the response", 200, sseType, "data: " + note + "\n\n", "failed: answer ended without the response", []string{"notifications/progress@1"}, ""},
		{"stream that ends within an event", 200, sseType, "data: " + result(1) + "\n", "failed: answer ended without the response: unexpected EOF", nil, ""},

		{"400 -32022", 400, jsonType, rpcError(`,"id":1`, -32022), "400 error no (-32022)", nil, ""},
		{"400 -32020 without id", 400, jsonType, rpcError(`,"id":null`, -32020), "400 error no (-32020)", nil, ""},
		{"400 without a type", 400, "", rpcError("", -32000), "400 error no (-32000)", nil, ""},
		{"400 as a stream", 400, sseType, ":\n\ndata: " + rpcError(`,"id":1`, -32021) + "\n\n", "400 error no (-32021)", nil, ""},
		{"400 of another request", 400, jsonType, rpcError(`,"id":2`, -32021), "failed: server answered 400 Bad Request: {", nil, ""},
		{"404 -32601", 404, jsonType, rpcError(`,"id":1`, -32601), "404 error no (-32601)", nil, ""},
		{"500 -32603", 500, jsonType, rpcError(`,"id":1`, -32603), "500 error no (-32603)", nil, ""},
		{"400 text", 400, "text/plain", "Bad  Request\nx", "failed: server answered 400 Bad Request: Bad Request x", nil, ""},
		{"400 empty", 400, "", "", "failed: server answered 400 Bad Request", nil, ""},
		{"404 without a session", 404, "text/plain", "nope", "failed: server answered 404 Not Found: nope", nil, ""},
		{"400 with a result", 400, jsonType, result(1), "failed: server answered 400 Bad Request: {", nil, ""},
		{"599", 599, "", "", "failed: server answered 599", nil, ""},
		{"403 with an error", 403, jsonType, rpcError("", -32600), "failed: server answered 403 Forbidden: no (-32600)", nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt, box := open(t, answer(tt.status, tt.contentType, tt.body), nil)
			got := roundTrip(t.Context(), rt, 1)
			if got != tt.want && (!strings.HasPrefix(tt.want, "failed") || !strings.HasPrefix(got, tt.want)) {
				t.Errorf("RoundTrip: %s, want %s", got, tt.want)
			}
			if diff := cmp.Diff(tt.messages, box.messages()); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
			if tt.stray != "" && !contains(box.strays(), tt.stray) {
				t.Errorf("strays = %q, want one with %q", box.strays(), tt.stray)
			}
			if tt.stray == "" && len(box.strays()) > 0 {
				t.Errorf("strays = %q, want none", box.strays())
			}
		})
	}
}

func TestStreamSplitAnywhere(t *testing.T) {
	t.Parallel()
	body := "event: message\r\nid: 1\r\ndata: " + note + "\r\n\r\ndata: " + result(1) + "\r\n\r\n"
	rt, box := open(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", sseType)
		for i := range len(body) {
			_, _ = io.WriteString(w, body[i:i+1])
			_ = http.NewResponseController(w).Flush()
		}
	}, nil)
	if got, want := roundTrip(t.Context(), rt, 1), `200 {"n":1}`; got != want {
		t.Errorf("RoundTrip: %s, want %s", got, want)
	}
	if diff := cmp.Diff([]string{"notifications/progress@1"}, box.messages()); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func TestBigAnswers(t *testing.T) {
	t.Parallel()
	big := `{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("x", 3<<20) + `"}`
	tests := []struct {
		name, contentType, body string
		limit                   int
		ok                      bool
	}{
		{"JSON", jsonType, big, 0, true},
		{"JSON over the limit", jsonType, big, 1 << 20, false},
		{"event", sseType, "data: " + big + "\n\n", 0, true},
		{"event over the limit", sseType, "data: " + big + "\n\n", 1 << 20, false},
	}
	for _, tt := range tests {
		for _, chunked := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, chunked %v", tt.name, chunked), func(t *testing.T) {
				t.Parallel()
				rt, _ := open(t, func(w http.ResponseWriter, r *http.Request) {
					if !chunked {
						w.Header().Set("Content-Length", fmt.Sprint(len(tt.body)))
					}
					answer(200, tt.contentType, tt.body)(w, r)
				}, &httpclient.Options{MaxMessage: tt.limit})
				res, err := rt.RoundTrip(t.Context(), request(1, "ping"))
				var tooLarge *transport.FrameTooLargeError
				switch {
				case tt.ok && (err != nil || len(res.Result) != 3<<20+2):
					t.Errorf("RoundTrip: result of %d bytes, %v", len(res.Result), err)
				case !tt.ok && (!errors.As(err, &tooLarge) || tooLarge.Limit != tt.limit):
					t.Errorf("RoundTrip: %v, want a FrameTooLargeError of %d", err, tt.limit)
				}
			})
		}
	}
}

func TestStatusError(t *testing.T) {
	t.Parallel()
	rt, _ := open(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("WWW-Authenticate", `Bearer resource_metadata="https://x/y"`)
		w.Header().Set("Retry-After", "7")
		answer(401, jsonType, rpcError("", -32600))(w, r)
	}, nil)
	for name, err := range map[string]error{
		"RoundTrip": func() error { _, err := rt.RoundTrip(t.Context(), request(1, "ping")); return err }(),
		"Send":      rt.Send(t.Context(), &transport.Outgoing{Method: "notifications/x"}),
		"Listen":    rt.(transport.Listener).Listen(t.Context(), legacy, nil),
	} {
		var status *httpclient.StatusError
		if !errors.As(err, &status) {
			t.Errorf("%s: %v, want a StatusError", name, err)
			continue
		}
		want := &httpclient.StatusError{
			Status: 401, ContentType: jsonType, Body: rpcError("", -32600),
			RPC:        &jsonrpc.Error{Code: -32600, Message: "no"},
			Challenges: []string{`Bearer resource_metadata="https://x/y"`}, RetryAfter: 7 * time.Second,
		}
		if diff := cmp.Diff(want, status); diff != "" || !status.IsAuth() {
			t.Errorf("%s: IsAuth %v, (-want +got):\n%s", name, status.IsAuth(), diff)
		}
		if !errors.Is(err, &jsonrpc.Error{Code: -32600}) {
			t.Errorf("%s: %v does not wrap the JSON-RPC error", name, err)
		}
	}
}

func TestStatusErrorDate(t *testing.T) {
	t.Parallel()
	rt, _ := open(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
		answer(503, "text/plain", strings.Repeat("busy ", 1000))(w, r)
	}, nil)
	_, err := rt.RoundTrip(t.Context(), request(1, "ping"))
	var status *httpclient.StatusError
	if !errors.As(err, &status) || status.RetryAfter < 50*time.Minute || len(status.Body) > 1100 || status.IsAuth() {
		t.Errorf("RoundTrip: %v, want a StatusError for an hour with a short body", err)
	}
	if status.Unwrap() != nil || errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v wraps %v", err, status.Unwrap())
	}
}

func TestBrokenStream(t *testing.T) {
	t.Parallel()
	for _, contentType := range []string{sseType, jsonType} {
		rt, _ := open(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				w.WriteHeader(http.StatusMethodNotAllowed)
				return
			}
			w.Header().Set("Content-Type", contentType)
			_, _ = io.WriteString(w, "retry: 30\nid: abc\ndata:\n\n")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, nil)
		_, err := rt.RoundTrip(t.Context(), request(1, "ping"))
		var missing *httpclient.NoResponseError
		if !errors.As(err, &missing) || !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errors.ErrUnsupported) {
			t.Fatalf("%s: %v, want a NoResponseError for an unexpected end", contentType, err)
		}
		if contentType == sseType && (missing.LastEventID != "abc" || missing.Retry != 30*time.Millisecond || !errors.Is(missing.Resuming, errors.ErrUnsupported)) {
			t.Errorf("last id %q, retry %v, resuming %v, want abc, 30ms, no such method", missing.LastEventID, missing.Retry, missing.Resuming)
		}
	}
}

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/bench/program"
)

func jobs() map[string]job {
	all := map[string]job{
		"echo": echo, "modern": echoModern, "add": add, "list": list, "progress": progress,
		"poke":  {method: toolsCall, tool: "poke"},
		"hard":  {method: toolsCall, tool: program.Hard, arguments: program.HardArguments, checked: true},
		"asks":  {method: toolsCall, tool: program.Ask, arguments: "{}", modern: true, asks: true},
		"hears": {method: "subscriptions/listen", modern: true},
	}
	for name, j := range all {
		j.prepare()
		all[name] = j
	}
	return all
}

// TestRequests reads the requests, which are put together as bytes, as JSON.
func TestRequests(t *testing.T) {
	t.Parallel()
	for name, j := range jobs() {
		var got struct {
			ID     int
			Method string
			Params struct {
				Name      string
				Arguments json.RawMessage
				Meta      map[string]json.RawMessage `json:"_meta"`
			}
		}
		frame := j.request(nil, 42)
		if err := json.Unmarshal(frame, &got); err != nil {
			t.Errorf("%s: %v in %s", name, err, frame)
			continue
		}
		if got.ID != 42 || got.Method != j.method || got.Params.Name != j.tool {
			t.Errorf("%s: got %d %s %q in %s", name, got.ID, got.Method, got.Params.Name, frame)
		}
		if modern := len(got.Params.Meta) >= 3; modern != j.modern {
			t.Errorf("%s: metadata %v in %s", name, got.Params.Meta, frame)
		}
	}
}

func TestAnswered(t *testing.T) {
	t.Parallel()
	j := jobs()["asks"]
	state := strings.Repeat("s", 50)
	frame, err := j.answered(nil, []byte(`{"id":7,"result":{"resultType":"input_required","requestState":"`+state+`"}}`), 7)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Params struct {
			Name           string
			RequestState   string
			InputResponses map[string]struct{ Action string }
		}
	}
	if err := json.Unmarshal(frame, &got); err != nil {
		t.Fatalf("%v in %s", err, frame)
	}
	if got.Params.RequestState != state || got.Params.Name != program.Ask || got.Params.InputResponses["confirm"].Action != "accept" {
		t.Errorf("got %+v from %s", got, frame)
	}
	if _, err := j.answered(nil, []byte(`{"id":7,"result":{}}`), 7); err == nil {
		t.Error("an answer without a question is taken for one")
	}
}

// TestCheck has replies checked, right ones and wrong ones.
func TestCheck(t *testing.T) {
	t.Parallel()
	j := jobs()
	said := func(text string) string {
		return `{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"` + text + `"}]}}`
	}
	e := j["echo"]
	right := string(e.text(nil, 5))
	for _, test := range []struct {
		job, reply string
		ok         bool
	}{
		{"echo", said(right), true},
		{"echo", said(string(e.text(nil, 6))), false},
		{"echo", said(right[:255]), false},
		{"echo", said(right + "!"), false},
		{"echo", `{"jsonrpc":"2.0","id":5,"error":{"code":-32603,"message":"no"}}`, false},
		{"add", `{"id":5,"result":{"content":[],"structuredContent":{"sum":6}}}`, true},
		{"add", `{"id":5,"result":{"content":[],"structuredContent":{"sum":7}}}`, false},
		{"hard", said("fits"), true},
		{"hard", `{"id":5,"result":{"content":[{"type":"text","text":"\"fits\""}],"isError":true}}`, false},
		{"hard", said("does not"), false},
		{"list", `{"id":5,"result":{"tools":[{"inputSchema":{}}]}}`, false},
	} {
		job := j[test.job]
		if err := job.check([]byte(test.reply), 5); (err == nil) != test.ok {
			t.Errorf("%s: check(%.80s) = %v, want right: %v", test.job, test.reply, err, test.ok)
		}
	}
}

func TestProgressCount(t *testing.T) {
	t.Parallel()
	step := func(token, n string) []byte {
		return []byte(`{"method":"notifications/progress","params":{"progressToken":` + token + `,"progress":` + n + `}}`)
	}
	p := progressCount{token: 1}
	p.notification(step("1", "1"))
	p.notification(step("1", "3"))
	p.notification(step("1", "2"))
	p.result(5)
	p.token = 2
	p.notification(step("1", "4"))
	if want := (progressFault{Late: 1, Lost: 1, Order: 1}); p.fault != want {
		t.Errorf("got %+v, want %+v", p.fault, want)
	}
}

package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

//go:embed revisions.json
var revisionsFile []byte

// revisions are the names of the two revisions that are measured: the newest
// with a handshake, and the newest without.
var revisions = func() (r struct{ Legacy, Modern string }) {
	if err := json.Unmarshal(revisionsFile, &r); err != nil {
		panic(err)
	}
	return r
}()

// A job is what is asked of a server again and again, and how a reply is
// recognised as right. Messages are built and checked as bytes, because a JSON
// library here would take the time of the machine that is to be measured.
type job struct {
	method string
	tool   string // of tools/call
	size   int    // of the text, for echo
	n      int    // notifications before the result, for progress
	modern bool
	tools  int // in the list, for tools/list
	typed  int // of them, with types of their own
	// arguments are those of a tool that answers "fits", one of those that have
	// to be asked for.
	arguments string
	checked   bool
	// asks means that the tool ends with a question first, and answers when it is
	// called again.
	asks   bool
	filler string
	meta   string
}

// prepare computes what all messages of the job share.
func (j *job) prepare() {
	if j.size > 16 {
		j.filler = strings.Repeat("Words to say, and to say again; ", j.size/32+1)[:j.size-16]
	}
	if j.modern {
		capabilities := "{}"
		if j.asks {
			capabilities = `{"elicitation":{"form":{}}}`
		}
		j.meta = `"io.modelcontextprotocol/protocolVersion":"` + revisions.Modern + `",` +
			`"io.modelcontextprotocol/clientInfo":{"name":"bench-drive","version":"1.0.0"},` +
			`"io.modelcontextprotocol/clientCapabilities":` + capabilities
	}
}

// request appends the request with the id.
func (j *job) request(b []byte, id int) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = strconv.AppendInt(b, int64(id), 10)
	b = append(b, `,"method":"`...)
	b = append(b, j.method...)
	b = append(b, `","params":{`...)
	if j.method == "subscriptions/listen" {
		b = append(b, `"notifications":{"toolsListChanged":true}`...)
	}
	switch j.tool {
	case "echo":
		b = append(b, `"name":"echo","arguments":{"text":"`...)
		b = append(j.text(b, id), `"}`...)
	case "add":
		b = fmt.Appendf(b, `"name":"add","arguments":{"a":%d,"b":1}`, id)
	case "poke":
		b = append(b, `"name":"poke","arguments":{}`...)
	case "progress":
		b = fmt.Appendf(b, `"name":"progress","arguments":{"n":%d}`, j.n)
	default:
		if j.arguments != "" {
			b = append(append(append(b, `"name":"`...), j.tool...), `","arguments":`...)
			b = append(b, j.arguments...)
		}
	}
	if j.meta != "" || j.n > 0 {
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(b, `"_meta":{`...)
		b = append(b, j.meta...)
		if j.n > 0 {
			if j.meta != "" {
				b = append(b, ',')
			}
			b = fmt.Appendf(b, `"progressToken":%d`, id)
		}
		b = append(b, '}')
	}
	return append(b, `}}`...)
}

// answered appends the request with the id again, with the answer to the question
// in its reply, and what the server wants to have back.
func (j *job) answered(b, reply []byte, id int) ([]byte, error) {
	state := value(reply, `"requestState":`)
	if len(state) < 40 {
		return b, fmt.Errorf("request %d: no sealed state: %.300s", id, reply)
	}
	start := len(b)
	b = j.request(b, id)
	_, params, _ := bytes.Cut(b[start:], []byte(`"params":{`))
	params = bytes.Clone(params)
	b = fmt.Appendf(b[:len(b)-len(params)], `"inputResponses":{"confirm":{"action":"accept","content":{"sure":true}}},"requestState":%s,`, state)
	return append(b, params...), nil
}

// text appends the text of the request with the id: no two are alike.
func (j *job) text(b []byte, id int) []byte {
	return append(fmt.Appendf(b, "%016d", id), j.filler...)
}

// check finds what is wrong with the result in reply.
func (j *job) check(reply []byte, id int) error {
	switch {
	case bytes.Contains(reply, []byte(`"isError":true`)), !bytes.Contains(reply, []byte(`"result":`)):
		return fmt.Errorf("request %d failed: %.300s", id, reply)
	case j.tool == "echo":
		_, rest, _ := bytes.Cut(reply, []byte(`"text":"`))
		if len(rest) <= j.size || string(rest[:16]) != fmt.Sprintf("%016d", id) ||
			string(rest[16:j.size]) != j.filler || rest[j.size] != '"' {
			return fmt.Errorf("request %d: wrong text: %.300s", id, reply)
		}
	case j.tool == "add":
		_, rest, _ := bytes.Cut(reply, []byte(`"structuredContent":{"sum":`))
		if !bytes.HasPrefix(rest, strconv.AppendInt(nil, int64(id+1), 10)) {
			return fmt.Errorf("request %d: wrong sum: %.300s", id, reply)
		}
	case j.arguments != "" && !bytes.Contains(reply, []byte(`"fits"`)):
		return fmt.Errorf("request %d: not said to fit: %.300s", id, reply)
	case j.tools > 0:
		if n := bytes.Count(reply, []byte(`"inputSchema"`)); n != j.tools {
			return fmt.Errorf("request %d: %d tools in the list, not %d", id, n, j.tools)
		}
	}
	return nil
}

// replyID finds the id of a reply; false for a notification. Ids are looked for
// before the result, where all servers write them, so that no text is mistaken.
func replyID(reply []byte) (int, bool) {
	_, rest, found := bytes.Cut(reply, []byte(`"id":`))
	if !found {
		return 0, false
	}
	end := 0
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	id, err := strconv.Atoi(string(rest[:end]))
	return id, err == nil
}

// initialize opens a session.
func initialize(id int) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"protocolVersion":%q,`+
		`"capabilities":{},"clientInfo":{"name":"bench-drive","version":"1.0.0"}}}`, id, revisions.Legacy)
}

const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// A progressCount follows the notifications of one call after the other.
type progressCount struct {
	token int
	seen  int
	last  float64
	fault progressFault
}

// progressFault counts what servers must not do and some do.
type progressFault struct {
	Late  int `json:"late,omitempty"`  // came after the result
	Lost  int `json:"lost,omitempty"`  // never came
	Order int `json:"order,omitempty"` // came out of order
}

func (p *progressCount) notification(frame []byte) {
	_, rest, _ := bytes.Cut(frame, []byte(`"progress":`))
	end := bytes.IndexAny(rest, ",}")
	if end < 0 {
		return
	}
	value, _ := strconv.ParseFloat(string(rest[:end]), 64)
	_, rest, _ = bytes.Cut(frame, []byte(`"progressToken":`))
	end = bytes.IndexAny(rest, ",}")
	if end < 0 {
		return
	}
	if token, _ := strconv.Atoi(string(rest[:end])); token != p.token {
		p.fault.Late++
		p.fault.Lost-- // counted as lost when the result came
		return
	}
	if p.seen++; value <= p.last {
		p.fault.Order++
	}
	p.last = value
}

// result ends a call that was to bring n notifications.
func (p *progressCount) result(n int) {
	p.fault.Lost += n - p.seen
	p.seen, p.last, p.token = 0, 0, 0
}

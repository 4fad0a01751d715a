package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A host is the server that measured clients call: bytes again, so that it takes
// little of the machine.
type host struct {
	*run
	listener net.Listener // nil for stdio
	answered atomic.Int64 // calls
	wg       sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
	err   error // the first of serving
}

// client lets the client call while it is measured, and ends it.
func (r *run) client(l net.Listener) (tally, error) {
	h := &host{run: r, listener: l}
	defer h.close()
	if l == nil {
		h.wg.Go(func() { h.failed(h.stdio()) })
	} else {
		h.wg.Go(h.accept)
	}
	time.Sleep(r.warmUp)
	if err := r.begin(); err != nil {
		return tally{}, err
	}
	start, before := time.Now(), h.answered.Load()
	time.Sleep(r.duration)
	t := tally{replies: int(h.answered.Load() - before), took: time.Since(start)}
	if err := r.end(); err != nil {
		return t, err
	}
	if t.replies == 0 {
		h.mu.Lock()
		defer h.mu.Unlock()
		return t, errors.Join(errors.New("the client made no calls"), h.err)
	}
	return t, nil
}

// failed notes the error of serving, if it is the first.
func (h *host) failed(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err == nil && err != io.EOF {
		h.err = err
	}
}

func (h *host) close() {
	h.p.stop()
	if h.listener != nil {
		_ = h.listener.Close()
	}
	h.mu.Lock()
	for _, c := range h.conns {
		_ = c.Close()
	}
	h.mu.Unlock()
	h.wg.Wait()
}

// stdio answers lines. Like the floor it writes when it has read all there is.
func (h *host) stdio() error {
	in := bufio.NewReaderSize(h.p.out, 256<<10)
	var out []byte
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		before := len(out)
		if out, err = h.answer(out, line); err != nil {
			return err
		}
		if len(out) > before {
			out = append(out, '\n')
		}
		if in.Buffered() == 0 && len(out) > 0 {
			if _, err := h.p.in.Write(out); err != nil {
				return err
			}
			out = out[:0]
		}
	}
}

func (h *host) accept() {
	for {
		c, err := h.listener.Accept()
		if err != nil {
			return
		}
		h.mu.Lock()
		h.conns = append(h.conns, c)
		h.mu.Unlock()
		h.wg.Go(func() { h.failed(h.http(c)) })
	}
}

// http answers the requests of one connection.
func (h *host) http(c net.Conn) error {
	defer c.Close()
	in := bufio.NewReaderSize(c, 64<<10)
	var out, body, reply []byte
	for {
		verb, length, err := readRequestHead(in)
		if err != nil {
			return err
		}
		body = append(body[:0], make([]byte, length)...)
		if _, err := io.ReadFull(in, body); err != nil {
			return err
		}
		if verb != "POST" {
			out = append(out[:0], "HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n"...)
		} else {
			if reply, err = h.answer(reply[:0], body); err != nil {
				return err
			}
			out = appendAnswer(out[:0], reply, bytes.Contains(body, []byte(`"method":"initialize"`)))
		}
		if _, err := c.Write(out); err != nil {
			return err
		}
	}
}

// appendAnswer makes a response of the reply; an empty one is none.
func appendAnswer(out, reply []byte, opens bool) []byte {
	if len(reply) == 0 {
		return append(out, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"...)
	}
	out = append(out, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"...)
	if opens {
		out = append(out, "Mcp-Session-Id: the-only-session\r\n"...)
	}
	out = append(out, "Content-Length: "...)
	out = strconv.AppendInt(out, int64(len(reply)), 10)
	return append(append(out, "\r\n\r\n"...), reply...)
}

func readRequestHead(in *bufio.Reader) (verb string, length int, err error) {
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return verb, 0, err
		}
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case len(line) == 0:
			return verb, length, nil
		case verb == "":
			word, _, _ := bytes.Cut(line, []byte(" "))
			verb = string(word)
		default:
			name, value, _ := bytes.Cut(line, []byte(":"))
			if len(name) == len("Content-Length") && strings.EqualFold(string(name), "Content-Length") {
				if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
					return verb, 0, err
				}
			}
		}
	}
}

// answer appends the reply to a message; notifications have none.
func (h *host) answer(out, message []byte) ([]byte, error) {
	id := value(message, `"id":`)
	method := string(value(message, `"method":`))
	if id == nil {
		return out, nil
	}
	out = append(append(append(out, `{"jsonrpc":"2.0","id":`...), id...), ',')
	modern := ""
	if h.w.job.modern {
		modern = `"resultType":"complete",`
	}
	switch {
	case method == `"tools/call"`:
		text := value(message, `"text":`)
		if len(text) != h.w.job.size+2 {
			return out, fmt.Errorf("unexpected call: %.300s", message)
		}
		out = append(append(out, `"result":{`...), modern...)
		out = append(append(append(out, `"content":[{"type":"text","text":`...), text...), `}]}}`...)
		h.answered.Add(1)
	case method == `"initialize"`:
		out = fmt.Appendf(out, `"result":{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"host","version":"1.0.0"}}}`,
			revisions.Legacy)
	case method == `"server/discover"` && h.w.job.modern:
		out = fmt.Appendf(out, `"result":{%s"supportedVersions":[%q],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private",`+
			`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"host","version":"1.0.0"}}}}`, modern, revisions.Modern)
	case method == `"tools/list"`:
		out = fmt.Appendf(out, `"result":{%s"ttlMs":0,"cacheScope":"private","tools":[{"name":"echo","inputSchema":{"type":"object"}}]}}`, modern)
	default:
		out = append(out, `"error":{"code":-32601,"message":"method not found"}}`...)
	}
	return out, nil
}

// value returns the scalar after the first occurrence of a member, nil if there
// is none. Clients write no spaces, and texts have no quotes in them.
func value(message []byte, member string) []byte {
	_, rest, found := bytes.Cut(message, []byte(member))
	if !found || len(rest) == 0 {
		return nil
	}
	if rest[0] == '"' {
		return rest[:bytes.IndexByte(rest[1:], '"')+2]
	}
	end := 0
	for end < len(rest) && (rest[end] >= '0' && rest[end] <= '9' || rest[end] == '-') {
		end++
	}
	return rest[:end]
}

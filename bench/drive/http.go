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
	"time"

	"github.com/ferrymcp/ferry/bench/program"
)

// http keeps one request outstanding on each of depth connections.
func (r *run) http() (tally, error) {
	g := &group{run: r, tallies: make([]tally, r.w.depth), errs: make([]error, r.w.depth)}
	conns := make([]*httpConn, r.w.depth)
	for i := range conns {
		c, err := connect(r.p.address, r.w)
		if err != nil {
			return tally{}, err
		}
		defer c.Close()
		conns[i] = c
	}
	var wg sync.WaitGroup
	start := time.Now()
	g.warmAt, g.endAt = start.Add(r.warmUp), start.Add(r.warmUp+r.duration)
	for i, c := range conns {
		wg.Go(func() { g.tallies[i], g.errs[i] = g.loop(c, i) })
	}
	wg.Wait()
	all := tally{took: time.Since(g.warmAt)}
	if err := errors.Join(append(g.errs, r.end())...); err != nil {
		return all, err
	}
	for i, t := range g.tallies {
		all.replies += t.replies
		all.latencies = append(all.latencies, t.latencies...)
		r.progress.Late += conns[i].count.fault.Late
		r.progress.Lost += conns[i].count.fault.Lost
		r.progress.Order += conns[i].count.fault.Order
	}
	return all, nil
}

// A group is the connections of one run.
type group struct {
	*run
	warmAt, endAt time.Time
	once          sync.Once
	beginErr      error
	tallies       []tally
	errs          []error
}

func (g *group) loop(c *httpConn, i int) (t tally, err error) {
	for id := g.w.depth + i; ; id += g.w.depth {
		asked := time.Now()
		if asked.After(g.endAt) && t.replies > 0 {
			return t, nil
		}
		if asked.After(g.warmAt) {
			g.once.Do(func() { g.beginErr = g.begin() })
			if g.beginErr != nil {
				return t, g.beginErr
			}
		}
		c.count.token = id
		reply, err := c.call(id)
		if err != nil {
			return t, err
		}
		if got, _ := replyID(reply); got != id {
			return t, fmt.Errorf("reply to %d, not %d: %.200s", got, id, reply)
		}
		if err := g.w.job.check(reply, id); err != nil {
			return t, err
		}
		c.count.result(g.w.job.n)
		if asked.After(g.warmAt) {
			t.replies++
			t.latencies = append(t.latencies, time.Since(asked))
		}
	}
}

// An httpConn is one connection that is kept alive.
type httpConn struct {
	net.Conn
	in      *bufio.Reader
	job     *job
	common  string // headers of every request, besides those that all clients send
	headers string // all, of every request after the handshake
	session string
	out     []byte
	message []byte
	body    []byte
	reply   []byte
	count   progressCount
}

func dial(addr string) (*httpConn, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &httpConn{Conn: c, in: bufio.NewReaderSize(c, 64<<10)}, nil
}

// connect dials and makes the handshake of the workload.
func connect(addr string, w *workload) (*httpConn, error) {
	c, err := dial(addr)
	if err != nil {
		return nil, err
	}
	c.job = &w.job
	if w.token {
		c.common = "Authorization: Bearer " + program.Token + "\r\n"
	}
	if err := c.open(w.session); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// open makes the handshake if there is to be a session, and the headers.
func (c *httpConn) open(session bool) error {
	common := "POST /mcp HTTP/1.1\r\nHost: " + c.RemoteAddr().String() + "\r\nContent-Type: application/json\r\n" +
		"Accept: application/json, text/event-stream\r\nUser-Agent: bench-drive\r\n" + c.common
	c.headers = common
	version := revisions.Legacy
	if c.job.modern {
		version = revisions.Modern
		common += "Mcp-Method: " + c.job.method + "\r\n"
		if c.job.tool != "" {
			common += "Mcp-Name: " + c.job.tool + "\r\n"
		}
	}
	common += "Mcp-Protocol-Version: " + version + "\r\n"
	if session {
		if _, err := c.post(initialize(1)); err != nil {
			return err
		}
		common += "Mcp-Session-Id: " + c.session + "\r\n"
		c.headers = common
		if _, err := c.post([]byte(initialized)); err != nil {
			return err
		}
	}
	c.headers = common
	return nil
}

func (c *httpConn) call(id int) ([]byte, error) {
	c.message = c.job.request(c.message[:0], id)
	reply, err := c.post(c.message)
	if err != nil || !c.job.asks {
		return reply, err
	}
	c.message, err = c.job.answered(c.message[:0], reply, id)
	if err != nil {
		return nil, err
	}
	return c.post(c.message)
}

// post sends a message and returns the reply to it, which is valid until the
// next call. Notifications before it are counted.
func (c *httpConn) post(message []byte) ([]byte, error) {
	if err := c.send(message); err != nil {
		return nil, err
	}
	h, err := c.readHeader()
	if err != nil {
		return nil, fmt.Errorf("read the head of a response: %w", err)
	}
	body := h.body(c.in)
	c.reply = c.reply[:0]
	if h.events {
		err = c.events(body)
	} else {
		c.reply, err = appendAll(c.reply, body)
	}
	if err != nil {
		return nil, fmt.Errorf("read the body of a response: %w", err)
	}
	if h.status != 200 && h.status != 202 {
		return nil, fmt.Errorf("status %d: %.300s", h.status, c.reply)
	}
	return c.reply, nil
}

func (c *httpConn) send(message []byte) error {
	c.out = append(append(c.out[:0], c.headers...), "Content-Length: "...)
	c.out = strconv.AppendInt(c.out, int64(len(message)), 10)
	c.out = append(append(c.out, "\r\n\r\n"...), message...)
	_, err := c.Write(c.out)
	return err
}

type header struct {
	status  int
	length  int
	chunked bool
	events  bool
}

func (c *httpConn) readHeader() (h header, err error) {
	for first := true; ; first = false {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return h, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if first {
			if len(line) < 12 {
				return h, fmt.Errorf("bad status line %q", line)
			}
			h.status, err = strconv.Atoi(string(line[9:12]))
			if err != nil {
				return h, err
			}
			continue
		}
		if len(line) == 0 {
			return h, nil
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch value = bytes.TrimSpace(value); len(name) {
		case len("Content-Length"):
			if strings.EqualFold(string(name), "Content-Length") {
				h.length, _ = strconv.Atoi(string(value))
			} else if strings.EqualFold(string(name), "Mcp-Session-Id") {
				c.session = string(value)
			}
		case len("Transfer-Encoding"):
			h.chunked = h.chunked || strings.EqualFold(string(name), "Transfer-Encoding")
		case len("Content-Type"):
			h.events = h.events || bytes.HasPrefix(value, []byte("text/event-stream"))
		}
	}
}

func (h header) body(in *bufio.Reader) io.Reader {
	if h.chunked {
		return &chunks{in: in}
	}
	return io.LimitReader(in, int64(h.length))
}

func appendAll(b []byte, r io.Reader) ([]byte, error) {
	for {
		if cap(b)-len(b) < 512 {
			b = append(b, make([]byte, 4096+len(b))...)[:len(b)]
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return b, err
		}
	}
}

// events takes the messages out of a stream of events: the last is the reply.
func (c *httpConn) events(body io.Reader) error {
	var err error
	if c.body, err = appendAll(c.body[:0], body); err != nil {
		return err
	}
	for line := range bytes.Lines(c.body) {
		data, ok := bytes.CutPrefix(line, []byte("data:"))
		if data = bytes.TrimSpace(data); !ok || len(data) == 0 {
			continue
		}
		if _, isReply := replyID(data); isReply {
			c.reply = append(c.reply[:0], data...)
		} else {
			c.count.notification(data)
		}
	}
	return nil
}

// chunks reads a body in chunks.
type chunks struct {
	in   *bufio.Reader
	left int
	done bool
}

func (c *chunks) Read(p []byte) (int, error) {
	if c.done {
		return 0, io.EOF
	}
	if c.left == 0 {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		size, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 32)
		if err != nil {
			return 0, err
		}
		if c.left = int(size); size == 0 {
			c.done = true
			_, err := c.in.Discard(2)
			if err == nil {
				err = io.EOF
			}
			return 0, err
		}
	}
	n, err := c.in.Read(p[:min(len(p), c.left)])
	if c.left -= n; c.left == 0 && err == nil {
		_, err = c.in.Discard(2)
	}
	return n, err
}

package main

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
)

// serveStdio answers one line after the other.
func (f *floor) serveStdio() error {
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	out := bufio.NewWriterSize(os.Stdout, 64<<10)
	enc := json.NewEncoder(out)
	notify := func(v any) error { // progress is of use at once or not at all
		if err := enc.Encode(v); err != nil {
			return err
		}
		return out.Flush()
	}
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var rq request
		if err := json.Unmarshal(line, &rq); err != nil {
			return err
		}
		if rq.ID == nil {
			continue
		}
		if err := enc.Encode(f.answer(&rq, notify)); err != nil {
			return err
		}
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
}

// ServeHTTP implements http.Handler: one message for each POST.
func (f *floor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
		f.post(w, r)
	case http.MethodGet:
		f.get(w, r)
	case http.MethodDelete:
		f.remove(w, r)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func (f *floor) post(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var rq request
	if err := json.Unmarshal(body, &rq); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if !f.admit(w, r, &rq) {
		return
	}
	if rq.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if rq.Method == "subscriptions/listen" {
		f.stream(w, r, "", rq.ID)
		return
	}
	stream := &events{w: w}
	rs := f.answer(&rq, stream.send)
	if stream.open {
		_ = stream.send(rs)
		return
	}
	reply, err := json.Marshal(rs)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(reply)
}

// admit checks what the headers say. It answers when it returns false.
func (f *floor) admit(w http.ResponseWriter, r *http.Request, rq *request) bool {
	accept := r.Header.Get("Accept")
	if !strings.Contains(accept, "application/json") || !strings.Contains(accept, "text/event-stream") {
		w.WriteHeader(http.StatusNotAcceptable)
		return false
	}
	if version := rq.Params.Meta.Version; version != "" {
		if r.Header.Get("Mcp-Protocol-Version") != version || r.Header.Get("Mcp-Method") != rq.Method ||
			r.Header.Get("Mcp-Name") != rq.Params.Name {
			w.WriteHeader(http.StatusBadRequest)
			return false
		}
		return true
	}
	if f.stateless {
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if rq.Method == "initialize" {
		id := rand.Text()
		f.sessions[id] = nil
		w.Header().Set("Mcp-Session-Id", id)
		return true
	}
	if _, known := f.sessions[r.Header.Get("Mcp-Session-Id")]; !known {
		w.WriteHeader(http.StatusNotFound)
		return false
	}
	return true
}

// events is a stream of server-sent events, opened by the first of them.
type events struct {
	w    http.ResponseWriter
	open bool
}

func (e *events) send(v any) error {
	if !e.open {
		e.open = true
		e.w.Header().Set("Content-Type", "text/event-stream")
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if _, err := e.w.Write([]byte("event: message\ndata: " + string(data) + "\n\n")); err != nil {
		return err
	}
	return http.NewResponseController(e.w).Flush()
}

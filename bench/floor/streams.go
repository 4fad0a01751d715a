package main

import (
	"encoding/json"
	"net/http"
	"sync"
)

// A stream is a request whose answer stays open for what is told to all.
type stream struct {
	// subscription is the id of the request for subscriptions/listen, nil for
	// the stream of a session.
	subscription json.RawMessage
	ended        chan struct{}

	mu  sync.Mutex
	out events
}

type subscriptionMeta struct {
	ID json.RawMessage `json:"io.modelcontextprotocol/subscriptionId"`
}

type subscriptionParams struct {
	Meta          *subscriptionMeta `json:"_meta,omitempty"`
	Notifications map[string]bool   `json:"notifications,omitempty"`
}

func (s *stream) send(method string, params *subscriptionParams) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := &notification{JSONRPC: "2.0", Method: method}
	if params != nil {
		n.Params = params
	}
	return s.out.send(n)
}

// stream serves the open answer until the client goes or the session, "" if it is
// of none, is deleted.
func (f *floor) stream(w http.ResponseWriter, r *http.Request, session string, subscription json.RawMessage) {
	s := &stream{subscription: subscription, ended: make(chan struct{}), out: events{w: w}}
	if subscription == nil {
		w.Header().Set("Content-Type", "text/event-stream")
		s.out.open = true
		if http.NewResponseController(w).Flush() != nil {
			return
		}
	} else if s.send("notifications/subscriptions/acknowledged", &subscriptionParams{
		Meta: &subscriptionMeta{subscription}, Notifications: map[string]bool{"toolsListChanged": true},
	}) != nil {
		return
	}
	f.mu.Lock()
	f.streams[s] = true
	if session != "" {
		f.sessions[session] = s
	}
	f.mu.Unlock()
	select {
	case <-r.Context().Done():
	case <-s.ended:
	}
	f.mu.Lock()
	delete(f.streams, s)
	f.mu.Unlock()
	s.mu.Lock() // a message on its way uses w
	defer s.mu.Unlock()
}

// get opens the stream of a session.
func (f *floor) get(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get("Mcp-Session-Id")
	f.mu.Lock()
	_, known := f.sessions[id]
	f.mu.Unlock()
	if !known {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	f.stream(w, r, id, nil)
}

// remove ends a session and its stream.
func (f *floor) remove(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get("Mcp-Session-Id")
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.sessions[id]; s != nil {
		close(s.ended)
	}
	delete(f.sessions, id)
	w.WriteHeader(http.StatusNoContent)
}

// changed tells all streams that the list has changed.
func (f *floor) changed() {
	f.mu.Lock()
	all := make([]*stream, 0, len(f.streams))
	for s := range f.streams {
		all = append(all, s)
	}
	f.mu.Unlock()
	for _, s := range all {
		var params *subscriptionParams
		if s.subscription != nil {
			params = &subscriptionParams{Meta: &subscriptionMeta{s.subscription}}
		}
		_ = s.send("notifications/tools/list_changed", params) // it has gone otherwise
	}
}

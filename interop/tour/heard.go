package tour

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// patience is how long to wait for what should be there already, or soon.
const patience = 5 * time.Second

// Heard keeps what a server has told and asked a client. The zero value is ready.
// Its methods may be called concurrently.
type Heard struct {
	mu        sync.Mutex
	messages  map[string]chan json.RawMessage // by method
	questions []string
}

// Tell is called with each notification.
func (h *Heard) Tell(method string, params any) {
	data, err := json.Marshal(params)
	if err != nil {
		data = strconv.AppendQuote(nil, err.Error())
	}
	select {
	case h.channel(method) <- data:
	default: // nobody waits for so many
	}
}

// Ask is called with what a question shows to the user.
func (h *Heard) Ask(question string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.questions = append(h.questions, question)
}

// Questions returns the questions since it was called last, sorted.
func (h *Heard) Questions() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.questions
	h.questions = nil
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// Next waits for a notification and returns its parameters.
func (h *Heard) Next(ctx context.Context, method string) (json.RawMessage, error) {
	select {
	case params := <-h.channel(method):
		return params, nil
	case <-time.After(patience):
		return nil, fmt.Errorf("no %s in time", method)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (h *Heard) channel(method string) chan json.RawMessage {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.messages == nil {
		h.messages = map[string]chan json.RawMessage{}
	}
	if h.messages[method] == nil {
		h.messages[method] = make(chan json.RawMessage, 16)
	}
	return h.messages[method]
}

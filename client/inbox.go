package client

import (
	"log/slog"
	"sync"

	"github.com/ferrymcp/ferry/jsonrpc"
)

// maxInbox bounds the notifications that wait for Options.OnNotification.
const maxInbox = 1024

// An inbox holds notifications until the hook has taken them. Its goroutine
// runs only while there are any.
type inbox struct {
	mu      sync.Mutex
	queue   []jsonrpc.Message
	running bool
	dropped int // since the last time there was room
}

// put hands a notification to the hook, after those before it. It does not wait.
func (b *inbox) put(sess *Session, m jsonrpc.Message) {
	if sess.client.opts.OnNotification == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) >= maxInbox {
		if b.dropped++; b.dropped == 1 {
			sess.log.Warn("notifications dropped, the hook is too slow", slog.String("method", m.Method))
		}
		return
	}
	b.dropped = 0
	b.queue = append(b.queue, m)
	if !b.running {
		b.running = sess.tasks.start(func() { b.deliver(sess) })
	}
}

func (b *inbox) deliver(sess *Session) {
	for {
		m, ok := b.next(sess)
		if !ok {
			return
		}
		sess.client.opts.OnNotification(m.Method, m.Params)
	}
}

// next takes the oldest notification. When there is none, or Close has returned,
// the goroutine ends. What came before the end of the session is still taken.
func (b *inbox) next(sess *Session) (jsonrpc.Message, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 || sess.isClosed() {
		b.queue, b.running = nil, false
		return jsonrpc.Message{}, false
	}
	m := b.queue[0]
	b.queue[0] = jsonrpc.Message{}
	b.queue = b.queue[1:]
	return m, true
}

package transport

import (
	"bytes"
	"io"
	"sync"
)

// pipeFrames is how many frames one direction of a Pipe holds before Write waits.
const pipeFrames = 64

// Pipe returns the two ends of a connection in memory. What was written before
// one end is closed can still be read at the other, which then gets io.EOF.
// Writing never fails but for a closed end; it waits while 64 frames are unread.
func Pipe() (client, server Conn) {
	up, down := make(chan []byte, pipeFrames), make(chan []byte, pipeFrames)
	c := &pipeEnd{in: down, out: up, closed: make(chan struct{})}
	s := &pipeEnd{in: up, out: down, closed: make(chan struct{})}
	c.peer, s.peer = s, c
	return c, s
}

type pipeEnd struct {
	in     <-chan []byte
	out    chan<- []byte
	peer   *pipeEnd
	once   sync.Once
	closed chan struct{}
}

func (p *pipeEnd) Read() ([]byte, error) {
	select {
	case <-p.closed:
		return nil, ErrClosed
	default:
	}
	select {
	case frame := <-p.in:
		return frame, nil
	case <-p.closed:
		return nil, ErrClosed
	case <-p.peer.closed:
	}
	select {
	case frame := <-p.in:
		return frame, nil
	default:
		return nil, io.EOF
	}
}

func (p *pipeEnd) Write(frame []byte) error {
	// A closed end is told apart first: a select takes any case that is ready.
	if err := p.writable(); err != nil {
		return err
	}
	select {
	case p.out <- bytes.Clone(frame):
		return nil
	case <-p.closed:
	case <-p.peer.closed:
	}
	return p.writable()
}

func (p *pipeEnd) writable() error {
	select {
	case <-p.closed:
		return ErrClosed
	default:
	}
	select {
	case <-p.peer.closed:
		return lost(io.EOF)
	default:
		return nil
	}
}

func (p *pipeEnd) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

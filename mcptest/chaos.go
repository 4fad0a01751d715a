package mcptest

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/transport"
)

// A Chaos disturbs connections: it splits and delays what goes over them at any
// byte, and, if asked, cuts them there. The seed decides where: the bytes of the
// n-th connection are split and cut at the same offsets each time. It must not
// be copied.
type Chaos struct {
	// Seed decides about everything.
	Seed uint64
	// Delay is the longest that one piece of data is held back; 1 ms when zero.
	Delay time.Duration
	// Cut is after how many bytes a direction of a connection is cut, on
	// average, with both directions ended; zero means never. Connections of
	// [Chaos.Conn] are cut after a sixty-fourth as many frames.
	Cut int
	// Repeat makes connections of [Chaos.Conn] give some responses twice, as
	// a confused carrier might. Who asked has to get the first one only.
	Repeat bool

	connections atomic.Uint64
}

// source returns the decisions for one direction of the next connection.
func (c *Chaos) source() *rand.Rand {
	return rand.New(rand.NewPCG(c.Seed, c.connections.Add(1)))
}

// limit draws after how much a direction is cut; -1 means never.
func (c *Chaos) limit(rng *rand.Rand, mean int) int {
	if c.Cut == 0 {
		return -1
	}
	return 1 + rng.IntN(2*max(mean, 1))
}

// pause holds back one piece in eight, until done at the latest.
func (c *Chaos) pause(rng *rand.Rand, done <-chan struct{}) {
	longest := c.Delay
	if longest == 0 {
		longest = time.Millisecond
	}
	wait := time.Duration(rng.Int64N(int64(longest)) + 1)
	if rng.IntN(8) != 0 {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-done:
	}
}

// Proxy listens on a loopback port and connects whoever comes to addr, a TCP
// address, with disturbances. It returns the address it listens on. All its
// connections have ended when the test has.
func (c *Chaos) Proxy(t testing.TB, addr string) string {
	t.Helper()
	listener := listen(t)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var wg sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		_ = listener.Close()
		wg.Wait()
	})
	wg.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			var dialer net.Dialer
			far, err := dialer.DialContext(ctx, "tcp", addr)
			if err != nil {
				_ = near.Close()
				continue
			}
			wg.Go(func() { c.join(ctx, near, far) })
		}
	})
	return listener.Addr().String()
}

// front returns the URL of a proxy before an HTTP URL; without chaos the URL.
func (c *Chaos) front(t testing.TB, url string) string {
	t.Helper()
	if c == nil {
		return url
	}
	address, path, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	return "http://" + c.Proxy(t, address) + "/" + path
}

// listen listens on a loopback port.
func listen(t testing.TB) net.Listener {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	return listener
}

// join copies between two connections until both directions have ended.
func (c *Chaos) join(ctx context.Context, near, far net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		_ = near.Close()
		_ = far.Close()
	})()
	up, down := c.source(), c.source()
	var wg sync.WaitGroup
	wg.Go(func() { c.copy(ctx, cancel, far, near, up) })
	wg.Go(func() { c.copy(ctx, cancel, near, far, down) })
	wg.Wait()
	_ = near.Close()
	_ = far.Close()
}

// copy copies one direction in pieces and calls cut where it is to be cut.
func (c *Chaos) copy(ctx context.Context, cut func(), to, from net.Conn, rng *rand.Rand) {
	buf := make([]byte, 16<<10)
	left, piece := c.limit(rng, c.Cut), 0
	for {
		if piece == 0 {
			piece = 1 + rng.IntN(1<<rng.IntN(15))
			c.pause(rng, ctx.Done())
		}
		size := min(piece, len(buf))
		if left >= 0 {
			size = min(size, left)
		}
		n, err := from.Read(buf[:size])
		if _, failed := to.Write(buf[:n]); failed != nil {
			cut()
			return
		}
		piece -= n
		if left >= 0 {
			left -= n
		}
		switch {
		case left == 0:
			cut()
			return
		case errors.Is(err, io.EOF):
			if half, ok := to.(*net.TCPConn); ok {
				_ = half.CloseWrite()
			}
			return
		case err != nil:
			cut()
			return
		}
	}
}

// Conn returns conn with its frames disturbed: held back, cut off and, for
// responses, repeated. They stay in order, as the carriers of frames promise.
func (c *Chaos) Conn(conn transport.Conn) transport.Conn {
	in, out := c.source(), c.source()
	return &chaosConn{
		Conn: conn, chaos: c, in: in, out: out, done: make(chan struct{}),
		reads: c.limit(in, c.Cut/64), writes: c.limit(out, c.Cut/64),
	}
}

type chaosConn struct {
	transport.Conn
	chaos *Chaos
	done  chan struct{}
	once  sync.Once

	// The reader's alone.
	in    *rand.Rand
	reads int
	again []byte // the frame to give once more

	mu     sync.Mutex
	out    *rand.Rand
	writes int
}

func (c *chaosConn) Read() ([]byte, error) {
	if frame := c.again; frame != nil {
		c.again = nil
		return frame, nil
	}
	if c.reads == 0 {
		_ = c.Close()
		return nil, io.ErrUnexpectedEOF
	}
	frame, err := c.Conn.Read()
	if err != nil {
		return nil, err
	}
	c.reads--
	c.chaos.pause(c.in, c.done)
	if m, err := jsonrpc.Decode(frame); c.chaos.Repeat && err == nil && m.Kind() == jsonrpc.Response && c.in.IntN(3) == 0 {
		c.again = append([]byte(nil), frame...)
	}
	return frame, nil
}

func (c *chaosConn) Write(frame []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.writes == 0 {
		_ = c.Close()
		return io.ErrClosedPipe
	}
	c.writes--
	c.chaos.pause(c.out, c.done)
	return c.Conn.Write(frame)
}

func (c *chaosConn) Close() error {
	c.once.Do(func() { close(c.done) })
	return c.Conn.Close()
}

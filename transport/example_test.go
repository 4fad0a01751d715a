package transport_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"testing"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/transport"
)

func nopContext() context.Context { return context.Background() }

// osPipes returns the two ends of a connection over pipes of the operating system.
func osPipes(tb testing.TB) (client, server transport.Conn) {
	tb.Helper()
	r1, w1, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	r2, w2, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	return transport.Lines(r1, w2, nil), transport.Lines(r2, w1, nil)
}

// loggingConn is a Conn of one's own: it wraps another one.
type loggingConn struct{ transport.Conn }

func (c loggingConn) Write(frame []byte) error {
	fmt.Println("sending", string(frame))
	return c.Conn.Write(frame)
}

// A custom carrier, here newline framing over any net.Conn, becomes a
// Transport by way of Dial.
func ExampleDial() {
	here, there := net.Pipe()
	go echo(transport.Lines(there, there, nil))

	carrier := transport.Dial(func(context.Context) (transport.Conn, error) {
		return loggingConn{transport.Lines(here, here, nil)}, nil
	})
	ctx := context.Background()
	rt, err := carrier.Open(ctx, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer rt.Close()
	res, err := rt.RoundTrip(ctx, &transport.Outgoing{ID: jsonrpc.IntID(1), Method: "echo", Params: []string{"hello"}})
	fmt.Println(string(res.Result), err)
	// Output:
	// sending {"jsonrpc":"2.0","id":1,"method":"echo","params":["hello"]}
	// ["hello"] <nil>
}

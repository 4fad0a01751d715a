package transport

import "context"

// Dial returns a Transport that gets each connection by calling dial and
// speaks over it with [Duplex]. It is how a custom Conn is used by a client.
// The context is for connecting only; the connection outlives it.
func Dial(dial func(ctx context.Context) (Conn, error)) Transport { return dialer(dial) }

type dialer func(ctx context.Context) (Conn, error)

func (d dialer) connect(ctx context.Context) (Conn, error) { return d(ctx) }

// Open implements Transport.
func (d dialer) Open(ctx context.Context, recv Receiver) (RoundTripper, error) {
	return openConn(ctx, d, recv)
}

// A connector is a transport of ours that is a Conn underneath.
type connector interface {
	connect(ctx context.Context) (Conn, error)
}

func openConn(ctx context.Context, c connector, recv Receiver) (RoundTripper, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	conn, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	return Duplex(conn, recv), nil
}

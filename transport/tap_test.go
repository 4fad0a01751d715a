package transport_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/transport"
)

// opaque hides that a transport is a Conn underneath, as HTTP is not.
type opaque struct {
	transport.Transport
	listener bool
}

type listening struct{ transport.RoundTripper }

func (listening) Listen(context.Context, string, func()) error { return errors.New("heard") }

func (o opaque) Open(ctx context.Context, recv transport.Receiver) (transport.RoundTripper, error) {
	rt, err := o.Transport.Open(ctx, recv)
	if o.listener {
		rt = listening{rt}
	}
	return rt, err
}

func TestTap(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"conn", "opaque", "listener"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var wg sync.WaitGroup
			defer wg.Wait()
			var base transport.Transport = transport.Dial(func(context.Context) (transport.Conn, error) {
				client, server := transport.Pipe()
				wg.Go(func() {
					for _, hello := range []string{`{"jsonrpc":"2.0","method":"hello"}`, `stray`, `{"jsonrpc":"2.0","id":"s","method":"ask","params":{}}`} {
						_ = server.Write([]byte(hello))
					}
					echo(server)
				})
				return client, nil
			})
			if name != "conn" {
				base = opaque{base, name == "listener"}
			}
			var got []string
			tapped := transport.Tap(base, func(f transport.Frame) {
				if f.Time.IsZero() {
					t.Error("a frame without a time")
				}
				got = append(got, map[transport.Direction]string{transport.Sent: "> ", transport.Received: "< "}[f.Direction]+string(f.Data))
			})
			rec := new(recorder)
			rt, err := tapped.Open(t.Context(), rec)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := rt.RoundTrip(t.Context(), request(1, []int{5})); err != nil {
				t.Fatal(err)
			}
			if err := rt.Send(t.Context(), &transport.Outgoing{ID: jsonrpc.StringID("s"), Error: jsonrpc.Errorf(-32601, "no")}); err != nil {
				t.Fatal(err)
			}
			if l, ok := rt.(transport.Listener); ok != (name == "listener") || ok && l.Listen(t.Context(), "", nil) == nil {
				t.Errorf("is a listener: %v", ok)
			}
			rt.Close()
			all := strings.Join(got, "\n")
			for _, want := range []string{
				`< {"jsonrpc":"2.0","method":"hello"}`, `< stray`, `< {"jsonrpc":"2.0","id":"s","method":"ask","params":{}}`,
				`> {"jsonrpc":"2.0","id":1,"method":"echo","params":[5]}`, `< {"jsonrpc":"2.0","id":1,"result":[5]}`,
				`> {"jsonrpc":"2.0","id":"s","error":{"code":-32601,"message":"no"}}`,
			} {
				if strings.Count(all, want) != 1 {
					t.Errorf("the tap did not show once %s; it showed\n%s", want, all)
				}
			}
			if len(rec.messages) != 2 || len(rec.strays) != 1 {
				t.Errorf("received %v, strays %v", rec.messages, rec.strays)
			}
		})
	}
}

func TestDialErrors(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	d := transport.Dial(func(context.Context) (transport.Conn, error) { return nil, refused })
	for name, tr := range map[string]transport.Transport{
		"plain":         d,
		"tapped":        transport.Tap(d, func(transport.Frame) {}),
		"tapped opaque": transport.Tap(opaque{Transport: d}, func(transport.Frame) {}),
	} {
		if _, err := tr.Open(t.Context(), nil); err != refused {
			t.Errorf("%s: got %v, want %v", name, err, refused)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(refused)
	if _, err := d.Open(ctx, nil); err != refused {
		t.Errorf("with an ended context: %v", err)
	}
}

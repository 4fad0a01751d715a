package transport_test

import (
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/ferrymcp/ferry/transport"
)

func TestPipe(t *testing.T) {
	t.Parallel()
	a, b := transport.Pipe()
	frame := []byte("one")
	if err := a.Write(frame); err != nil {
		t.Fatal(err)
	}
	copy(frame, "xxx") // Write does not keep it
	if err := a.Write([]byte("two")); err != nil {
		t.Fatal(err)
	}
	a.Close()
	a.Close()
	for _, want := range []string{"one", "two"} {
		if got, err := b.Read(); err != nil || string(got) != want {
			t.Errorf("Read: got %s, %v, want %s", got, err, want)
		}
	}
	if _, err := b.Read(); err != io.EOF {
		t.Errorf("Read after the peer has closed: %v", err)
	}
	if err := b.Write(frame); !errors.Is(err, io.EOF) {
		t.Errorf("Write after the peer has closed: %v", err)
	}
	if _, err := a.Read(); err != transport.ErrClosed {
		t.Errorf("Read after Close: %v", err)
	}
	if err := a.Write(frame); err != transport.ErrClosed {
		t.Errorf("Write after Close: %v", err)
	}
}

func TestPipeIsBounded(t *testing.T) {
	t.Parallel()
	for name, closeIt := range map[string]func(a, b transport.Conn){
		"own end":    func(a, _ transport.Conn) { a.Close() },
		"other end":  func(_, b transport.Conn) { b.Close() },
		"both ends":  func(a, b transport.Conn) { a.Close(); b.Close() },
		"after read": func(a, b transport.Conn) { _, _ = b.Read(); synctest.Wait(); b.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a, b := transport.Pipe()
				var wg sync.WaitGroup
				written := 0
				wg.Go(func() {
					for a.Write([]byte("{}")) == nil {
						written++
					}
				})
				wg.Go(func() {
					if _, err := a.Read(); err == nil {
						t.Error("Read got a frame from nowhere")
					}
				})
				synctest.Wait()
				if written != 64 {
					t.Errorf("%d frames fit, want 64", written)
				}
				closeIt(a, b)
				wg.Wait()
			})
		})
	}
}

package transport_test

import (
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ferrymcp/ferry/transport"
)

func benchmarkDuplex(b *testing.B, client, server transport.Conn) {
	var wg sync.WaitGroup
	wg.Go(func() { echo(server) })
	rt := transport.Duplex(client, nil)
	params := struct{ Text string }{strings.Repeat("x", 100)}
	b.Run("alone", func(b *testing.B) {
		b.ReportAllocs()
		for i := range int64(b.N) {
			if _, err := rt.RoundTrip(b.Context(), request(i, params)); err != nil {
				b.Fatal(err)
			}
		}
	})
	var id atomic.Int64
	b.Run("parallel", func(b *testing.B) {
		b.ReportAllocs()
		b.SetParallelism(32)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := rt.RoundTrip(b.Context(), request(id.Add(1), params)); err != nil {
					b.Error(err)
				}
			}
		})
	})
	rt.Close()
	server.Close()
	wg.Wait()
}

func BenchmarkDuplexPipe(b *testing.B) {
	client, server := transport.Pipe()
	benchmarkDuplex(b, client, server)
}

func BenchmarkDuplexLines(b *testing.B) {
	client, server := osPipes(b)
	benchmarkDuplex(b, client, server)
}

func BenchmarkLinesRead(b *testing.B) {
	r, w := io.Pipe()
	c := transport.Lines(r, nopWriter{io.Discard}, nil)
	var wg sync.WaitGroup
	wg.Go(func() {
		chunk := []byte(strings.Repeat(strings.Repeat("x", 199)+"\n", 160))
		for {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	b.SetBytes(200)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Read(); err != nil {
			b.Fatal(err)
		}
	}
	c.Close()
	wg.Wait()
}

package httpclient_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/ferrymcp/ferry/transport"
)

// BenchmarkRoundTrip includes the server; "bare" is what net/http costs without
// this package.
func BenchmarkRoundTrip(b *testing.B) {
	handlers := map[string]http.HandlerFunc{
		"JSON":   answer(200, jsonType, result(1)),
		"stream": func(w http.ResponseWriter, r *http.Request) { sse(w, note, result(1)) },
	}
	for name, h := range handlers {
		b.Run(name, func(b *testing.B) {
			rt, _ := open(b, h, nil)
			m := request(1, "tools/call")
			m.Route = &transport.Route{Name: "add"}
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := rt.RoundTrip(b.Context(), m); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
	b.Run("bare", func(b *testing.B) {
		srv := newCounting(b, handlers["JSON"])
		client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
		defer client.CloseIdleConnections()
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				r, _ := http.NewRequestWithContext(b.Context(), http.MethodPost, srv.URL, http.NoBody)
				res, err := client.Do(r)
				if err != nil {
					b.Error(err)
					return
				}
				_, _ = io.ReadAll(res.Body)
				_ = res.Body.Close()
			}
		})
	})
}

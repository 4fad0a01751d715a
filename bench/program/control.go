package program

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// Counts is what a program says about itself at the path /counts. With ?free it
// first collects garbage and gives back what memory it can.
type Counts struct {
	Objects    uint64 `json:"objects"` // allocated since the start
	Bytes      uint64 `json:"bytes"`   // allocated since the start
	Heap       uint64 `json:"heap"`    // bytes in use
	Goroutines int    `json:"goroutines"`
}

// Run calls serve while the driver can ask for profiles and counts, and ends the
// program when serve fails. A program that speaks HTTP ends with its standard
// input too, so that none outlives a driver that was killed.
func (s Settings) Run(serve func() error) {
	var control sync.WaitGroup
	if s.Control != "" {
		l, err := net.Listen("tcp", s.Control)
		exitOn(err)
		fmt.Fprintln(os.Stderr, "control", l.Addr())
		srv := &http.Server{Handler: controls(), ReadHeaderTimeout: 10 * time.Second}
		control.Go(func() { _ = srv.Serve(l) })
		defer control.Wait()
		defer srv.Close()
	}
	if s.HTTP != "" {
		control.Go(func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(0)
		})
	}
	exitOn(serve())
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func controls() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("/counts", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("free") {
			runtime.GC() // what finalizers and pools hold goes with the second
			debug.FreeOSMemory()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		_ = json.NewEncoder(w).Encode(Counts{m.Mallocs, m.TotalAlloc, m.HeapInuse, runtime.NumGoroutine()})
	})
	return mux
}

// Command hotpath counts what requests allocate on the paths that nearly all of
// them take, without any carrier of the system, so that the counts depend on
// the code alone. It prints a line of JSON for each path. It uses public
// packages only and shares no code with other benchmarks, so that it can be built
// with older versions of the SDK, to compare them.
//
//	go run ./hotpath
//	go run ./hotpath -path 'conn echo' -runs 5000
package main

import (
	"context"
	"embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
)

//go:embed frames
var frames embed.FS

// frame is a message, or the result in one.
func frame(name string) []byte {
	data, err := frames.ReadFile("frames/" + name + ".json")
	if err != nil {
		panic(err)
	}
	return data
}

// A path is a way of a request: open makes everything ready and returns what
// makes one request and fails unless the right reply comes.
type path struct {
	name string
	open func(ctx context.Context) (request func() error, err error)
}

// A count is what one request takes.
type count struct {
	Path    string  `json:"path"`
	Objects float64 `json:"allocs"`
	Bytes   float64 `json:"bytes"`
}

func main() {
	one := flag.String("path", "", "make requests on this path alone, and count nothing")
	runs := flag.Int("runs", 1000, "how many requests to make")
	flag.Parse()
	// Collections empty pools, and several processors have several of them.
	debug.SetGCPercent(-1)
	runtime.GOMAXPROCS(1)
	if err := run(context.Background(), *one, *runs); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, one string, runs int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, p := range paths() {
		if one != "" && one != p.name {
			continue
		}
		request, err := p.open(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if one != "" {
			return times(runs, request)
		}
		c := count{Path: p.name}
		if err := c.take(runs, request); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if err := json.NewEncoder(os.Stdout).Encode(c); err != nil {
			return err
		}
		runtime.GC()
	}
	return nil
}

// take makes the requests a few times, and keeps the least: what is more was
// something else in the process.
func (c *count) take(runs int, request func() error) error {
	if err := times(runs, request); err != nil { // so that what is made once is there
		return err
	}
	for i := range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := times(runs, request); err != nil {
			return err
		}
		runtime.ReadMemStats(&after)
		objects := float64(after.Mallocs-before.Mallocs) / float64(runs)
		size := float64(after.TotalAlloc-before.TotalAlloc) / float64(runs)
		if i == 0 || objects < c.Objects {
			c.Objects = objects
		}
		if i == 0 || size < c.Bytes {
			c.Bytes = size
		}
	}
	return nil
}

func times(n int, request func() error) error {
	for range n {
		if err := request(); err != nil {
			return err
		}
	}
	return nil
}

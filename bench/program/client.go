package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
)

// ClientSettings are the flags of a measured client.
type ClientSettings struct {
	Settings
	// Depth is how many calls are in flight.
	Depth int
}

// ParseClient reads the command line and ends the program when it is wrong. A
// client speaks over its own standard input and output, or to the URL that
// Settings.HTTP is then.
func ParseClient() ClientSettings {
	var s ClientSettings
	flag.BoolVar(&s.Stdio, "stdio", false, "speak over standard input and output")
	flag.StringVar(&s.HTTP, "http", "", "the URL of the server")
	flag.IntVar(&s.Depth, "depth", 1, "how many calls are in flight")
	flag.StringVar(&s.Control, "control", "", "serve profiles and counts on this address")
	flag.Parse()
	if s.Stdio == (s.HTTP != "") {
		fmt.Fprintln(os.Stderr, "give one of -stdio and -http URL")
		os.Exit(2)
	}
	return s
}

// echoSize is the length of the text that clients have echoed.
const echoSize = 256

// Calls keeps Depth calls of echo in flight until one fails or brings back
// another text than it was given.
func (s ClientSettings) Calls(ctx context.Context, echo func(ctx context.Context, text string) (string, error)) error {
	errs := make([]error, s.Depth)
	var wg sync.WaitGroup
	for i := range s.Depth {
		wg.Go(func() {
			text := fmt.Sprintf("%016d", i) + strings.Repeat("Words to say, and to say again; ", echoSize/32)[:echoSize-16]
			for errs[i] == nil {
				var got string
				if got, errs[i] = echo(ctx, text); errs[i] == nil && got != text {
					errs[i] = fmt.Errorf("echo of %q is %q", text, got)
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

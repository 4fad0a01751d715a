package oauth

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// OpenBrowser shows the page at url in the user's browser. The URL must be https, or
// http to this machine. It goes to a program of the system as one argument; no shell
// of ours sees it.
func OpenBrowser(ctx context.Context, url string) error {
	if _, err := oauthwire.ParseURL(url); err != nil {
		return fmt.Errorf("open browser: %w", err)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var cmd *exec.Cmd
	//nolint:noctx // a browser outlives the login
	switch runtime.GOOS {
	case "darwin":
		cmd = exec.Command("/usr/bin/open", url)
	case "windows":
		cmd = exec.Command("rundll32", "url.dll,FileProtocolHandler", url)
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return errors.New("open browser: there is no display")
		}
		cmd = exec.Command("xdg-open", url)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("open browser: %w", err)
	}
	exited := make(chan error, 1)
	var reaper sync.WaitGroup // ends with the program, which may be the browser itself
	reaper.Go(func() { exited <- cmd.Wait() })
	timer := time.NewTimer(2 * time.Second)
	defer timer.Stop()
	select {
	case err := <-exited:
		if err != nil {
			return fmt.Errorf("open browser: %w", err)
		}
	case <-timer.C:
	}
	return nil
}

// openOrPrint is the default of Options.Open.
func openOrPrint(ctx context.Context, url string) error {
	if err := OpenBrowser(ctx, url); err != nil {
		fmt.Fprintf(os.Stderr, "To log in, open this page in a browser on this machine:\n\n  %s\n\n", url)
	}
	return nil
}

// Paste returns an Options.Authorize for a machine without a browser: it prints the
// page to visit to out, and reads from in, as one line, the URL at which the browser
// has ended up. That URL need not work; it is the address that counts. It stops
// waiting when its context ends, but a line that is being read then is lost.
func Paste(in io.Reader, out io.Writer) func(context.Context, *AuthorizationRequest) (string, error) {
	lines := bufio.NewReader(io.LimitReader(in, 1<<20))
	var mu sync.Mutex // one login at a time
	return func(ctx context.Context, rq *AuthorizationRequest) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(out, "To log in at %s, open this page in any browser:\n\n  %s\n\n", oauthwire.Printable(rq.Issuer, 200), rq.URL)
		fmt.Fprintf(out, "In the end the browser is sent to an address that begins with %s\n", rq.RedirectURI)
		fmt.Fprint(out, "and that may not open. Copy the whole address and paste it here: ")
		type result struct {
			line string
			err  error
		}
		read := make(chan result, 1)
		var reading sync.WaitGroup // ends with the line: reads of terminals cannot be interrupted
		reading.Go(func() {
			line, err := lines.ReadString('\n')
			if errors.Is(err, io.EOF) && line != "" {
				err = nil
			}
			read <- result{line, err}
		})
		select {
		case got := <-read:
			if got.err != nil {
				return "", fmt.Errorf("read the address: %w", got.err)
			}
			return got.line, nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

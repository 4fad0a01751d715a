package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// authorizationSet is the set of scenarios for authorization servers.
const authorizationSet = "authorization server"

// request is what the suite prints for somebody to open in a browser.
var request = regexp.MustCompile(`^https?://\S+[?&]response_type=\S+`)

// testAuthorization starts the authorization server and runs the scenarios for it,
// as the user who opens the page that the suite wants opened.
func (s *suite) testAuthorization(ctx context.Context, program string) ([]result, error) {
	as, err := startServer(ctx, program)
	if err != nil {
		return nil, err
	}
	results, err := s.authorize(ctx, as.url)
	return results, errors.Join(err, as.close())
}

func (s *suite) authorize(ctx context.Context, issuer string) ([]result, error) {
	out, err := os.MkdirTemp(s.scratch, "authorization-")
	if err != nil {
		return nil, err
	}
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, clientLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.node, s.script, "authorization", "--url", issuer, "-o", out,
		"--client-id", "conformance", "--resource", issuer+"/mcp", "--port", strconv.Itoa(port))
	cmd.Dir, cmd.WaitDelay = s.scratch, time.Second
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("suite authorization: %w", err)
	}
	said, opened := openPages(ctx, stdout)
	failed := errors.Join(opened, cmd.Wait())
	results, err := readResults(out, "authorization-server-", authorizationSet)
	if err != nil {
		return nil, errors.Join(err, failed)
	}
	if failed != nil {
		problem := fmt.Sprintf("the suite is not content: %v\n%s", failed, tail(said))
		results = append(results, result{Set: authorizationSet, Scenario: wholeSet, Failed: 1, Problems: []string{problem}})
	}
	return results, nil
}

// openPages opens the URLs that the suite prints, and follows where they lead. It
// returns what else was printed.
func openPages(ctx context.Context, printed io.Reader) (string, error) {
	var said strings.Builder
	var failed error
	lines := bufio.NewScanner(printed)
	for lines.Scan() {
		said.WriteString(lines.Text() + "\n")
		if request.MatchString(lines.Text()) {
			failed = errors.Join(failed, open(ctx, lines.Text()))
		}
	}
	return said.String(), errors.Join(failed, lines.Err())
}

func open(ctx context.Context, url string) error {
	// The suite begins to listen for the answer after it has printed the URL.
	for {
		rq, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(rq)
		if err == nil {
			_ = resp.Body.Close()
			return nil
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}

// freePort returns a port that nobody listens at now.
func freePort(ctx context.Context) (int, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	_, text, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return 0, err
	}
	port, err := strconv.Atoi(text)
	return port, errors.Join(err, l.Close())
}

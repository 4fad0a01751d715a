package mcptest

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/httpserver"
	"github.com/ferrymcp/ferry/server"
	"github.com/ferrymcp/ferry/transport"
)

// A Carrier is a way for messages to travel.
type Carrier string

// The carriers.
const (
	// Memory is a pipe within the process.
	Memory Carrier = "memory"
	// Process is a child process, spoken to over its standard input and output.
	Process Carrier = "process"
	// HTTP is Streamable HTTP on a loopback port.
	HTTP Carrier = "http"
	// SSE is HTTP+SSE on a loopback port, the transport of the oldest revision,
	// which others that have sessions use too. The client finds it by itself.
	SSE Carrier = "sse"
)

// A Grid is a set of revisions and carriers to run a test over.
type Grid struct {
	// Server makes the server to test. It is called once for each carrier, and
	// in the child process.
	Server func() *server.Server
	// Client makes the client's options; nil means the defaults. The revision
	// is filled in.
	Client func() *client.Options
	// Carriers are the carriers to use; nil means all.
	Carriers []Carrier
	// Revisions are the names of the revisions to speak; nil means all. Those
	// that a carrier cannot carry are left out there.
	Revisions []string
	// Chaos, unless nil, disturbs the connections of all carriers but Process;
	// those of Memory then go over a socket in the framing of stdio.
	Chaos *Chaos
}

// Matrix runs test once for every revision over every carrier that has it, each
// in a subtest of its own with a fresh session. All of them talk to servers made by
// newServer: one for each carrier, which serves all revisions.
//
// For the carrier [Process] the test binary runs itself again, with the test
// that called Matrix; what that test does before must not depend on being run
// only once, and must not print.
func Matrix(t *testing.T, newServer func() *server.Server, test func(t *testing.T, sess *client.Session)) {
	t.Helper()
	grid := Grid{Server: newServer}
	grid.Run(t, func(t *testing.T, sess *client.Session, _ Carrier) { test(t, sess) })
}

// childEnv names, in a child process, the test whose server it is.
const childEnv = "FERRY_MCPTEST_SERVE"

// watch is told of every session of a grid before it begins, and returns what
// sees its messages. Only the tests of this package set it.
var watch func(t *testing.T, revision string) func(transport.Frame)

// disturb disturbs the grids that have no Chaos of their own. Only the tests of
// this package set it.
var disturb *Chaos

// Run runs test in a subtest for every cell of the grid.
func (g Grid) Run(t *testing.T, test func(t *testing.T, sess *client.Session, carrier Carrier)) {
	t.Helper()
	if os.Getenv(childEnv) == t.Name() {
		g.serveAsChild(t)
	}
	carriers := g.Carriers
	if carriers == nil {
		carriers = []Carrier{Memory, Process, HTTP, SSE}
	}
	revisions := g.Revisions
	if revisions == nil {
		revisions = client.Revisions()
	}
	for _, carrier := range carriers {
		t.Run(string(carrier), func(t *testing.T) {
			via := g.reach(t, carrier)
			for _, name := range revisions {
				if carrier == SSE && !hasSessions(name) {
					continue
				}
				t.Run(name, func(t *testing.T) {
					opts := &client.Options{}
					if g.Client != nil {
						opts = g.Client()
					}
					opts.Revision = name
					way := via
					if watch != nil {
						way = transport.Tap(via, watch(t, name))
					}
					test(t, Connect(t, way, opts), carrier)
				})
			}
		})
	}
}

// hasSessions reports whether a revision opens with initialize.
func hasSessions(revision string) bool {
	srv := server.New(ClientInfo, nil)
	defer func() { _ = srv.Close() }()
	_, ok := srv.Stateless(revision)
	return ok
}

// reach starts a server and returns the way to it.
func (g Grid) reach(t *testing.T, carrier Carrier) transport.Transport {
	t.Helper()
	if carrier == Process {
		return ownBinary(t)
	}
	srv := g.Server()
	t.Cleanup(func() { _ = srv.Close() })
	chaos := g.Chaos
	if chaos == nil {
		chaos = disturb
	}
	switch carrier {
	case Memory:
		if chaos != nil {
			return overSocket(t, srv, chaos)
		}
		return InMemory(t, srv)
	case HTTP:
		return httpclient.New(chaos.front(t, Serve(t, srv, &httpserver.Options{})), nil)
	case SSE:
		return httpclient.New(chaos.front(t, ServeSSE(t, srv, nil)), nil)
	default:
		t.Fatalf("unknown carrier %q", carrier)
		return nil
	}
}

// ownBinary runs the test binary as a server: it gets to the same call of Run,
// and serves there.
func ownBinary(t *testing.T) transport.Transport {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatalf("find the test binary: %v", err)
	}
	// The test that called Run is the parent of this subtest.
	name := t.Name()[:strings.LastIndexByte(t.Name(), '/')]
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return &transport.Command{
		Path:   binary,
		Args:   []string{"-test.run=" + strings.Join(parts, "/"), "-test.count=1", "-test.timeout=5m"},
		Env:    []string{childEnv + "=" + name},
		Stderr: os.Stderr,
	}
}

// serveAsChild serves standard input and output until the parent ends it, and
// does not return.
func (g Grid) serveAsChild(t *testing.T) {
	srv := g.Server()
	if err := srv.ServeStdio(t.Context()); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

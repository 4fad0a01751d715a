// Package program holds what the measured servers share: their flags, the way
// they listen, and the tools they offer beside echo, add, progress and poke.
// It does not speak the protocol.
package program

import (
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"sync"
	"time"
)

// Settings are the flags of a measured server.
type Settings struct {
	// Stdio serves standard input and output.
	Stdio bool
	// HTTP is the address to serve HTTP on; empty for none. With port 0 the
	// address is chosen, and printed on standard error as "listening ADDR".
	HTTP string
	// Stateless serves HTTP requests without sessions.
	Stateless bool
	// Tools is how many more tools there are.
	Tools int
	// Pprof is the address for profiles; empty for none. It is printed like
	// that of HTTP, as "profiling ADDR".
	Pprof string
}

// Parse reads the command line and ends the program when it is wrong.
func Parse() Settings {
	var s Settings
	flag.BoolVar(&s.Stdio, "stdio", false, "serve standard input and output")
	flag.StringVar(&s.HTTP, "http", "", "serve HTTP on this address")
	flag.BoolVar(&s.Stateless, "stateless", false, "serve HTTP without sessions")
	flag.IntVar(&s.Tools, "tools", 0, "how many more tools to offer")
	flag.StringVar(&s.Pprof, "pprof", "", "serve profiles on this address")
	flag.Parse()
	if s.Stdio == (s.HTTP != "") {
		fmt.Fprintln(os.Stderr, "give one of -stdio and -http ADDR")
		os.Exit(2)
	}
	return s
}

// Run calls serve with profiles being served meanwhile, and ends the program
// when it fails.
func (s Settings) Run(serve func() error) {
	var profiles sync.WaitGroup
	if s.Pprof != "" {
		l, err := net.Listen("tcp", s.Pprof)
		exitOn(err)
		fmt.Fprintln(os.Stderr, "profiling", l.Addr())
		srv := &http.Server{Handler: profileHandler(), ReadHeaderTimeout: 10 * time.Second}
		profiles.Go(func() { _ = srv.Serve(l) })
		defer profiles.Wait()
		defer srv.Close()
	}
	exitOn(serve())
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func profileHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}

// ListenAndServe serves h on the address of Settings.HTTP until it fails.
func (s Settings) ListenAndServe(h http.Handler) error {
	l, err := net.Listen("tcp", s.HTTP)
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "listening", l.Addr())
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	return srv.Serve(l)
}

// Descriptions of the tools that all servers have.
const (
	EchoDescription     = "Returns the text it is given."
	AddDescription      = "Adds two numbers."
	ProgressDescription = "Reports progress n times, then ends."
	PokeDescription     = "Changes the list of tools."
	// Poked is the tool that poke adds, and removes when it is there.
	Poked = "poked"
)

// Echo is the arguments of echo.
type Echo struct {
	Text string `json:"text"`
}

// Add is the arguments of add.
type Add struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

// Sum is the result of add.
type Sum struct {
	Sum float64 `json:"sum"`
}

// Progress is the arguments of progress.
type Progress struct {
	N int `json:"n"`
}

// ToolName names the extra tool with the number i.
func ToolName(i int) string { return fmt.Sprintf("ticket_search_%04d", i) }

// ToolDescription describes the extra tool with the number i.
func ToolDescription(i int) string {
	return fmt.Sprintf("Searches the tickets of project %d and returns those that match, newest first. "+
		"Use it before creating a ticket, so that none is created twice.", i)
}

// ToolSchema is the input schema of the extra tools: six properties, as tools
// in practice have them.
var ToolSchema = json.RawMessage(`{"type":"object","properties":{` +
	`"query":{"type":"string","description":"Words that must occur in the title or the text of a ticket.","minLength":1,"maxLength":400},` +
	`"state":{"type":"string","description":"Only tickets in this state.","enum":["open","closed","waiting","all"],"default":"open"},` +
	`"labels":{"type":"array","description":"Only tickets with all of these labels.","items":{"type":"string"},"maxItems":20},` +
	`"since":{"type":"string","description":"Only tickets changed after this time.","format":"date-time"},` +
	`"limit":{"type":"integer","description":"How many tickets to return at most.","minimum":1,"maximum":100,"default":20},` +
	`"verbose":{"type":"boolean","description":"Whether to return the text of the tickets too.","default":false}` +
	`},"required":["query"],"additionalProperties":false}`)

// ObjectSchemas are the input schemas of echo, add, progress and poke for
// servers that do not infer them.
var ObjectSchemas = map[string]json.RawMessage{
	"echo":     json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`),
	"add":      json.RawMessage(`{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"],"additionalProperties":false}`),
	"progress": json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`),
	"poke":     json.RawMessage(`{"type":"object"}`),
}

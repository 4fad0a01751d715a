// Package program holds what the measured servers share: their flags, the way
// they listen, and the tools they offer beside echo, add, progress and poke.
// It does not speak the protocol.
package program

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
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
	// Typed is how many more tools there are whose arguments have a type, one
	// of ten like Search.
	Typed int
	// Checked adds the tools Typical and Hard, whose arguments are checked
	// against schemas, and Ask, which only Ferry has.
	Checked bool
	// Protected lets only requests with Token in; only Ferry has it.
	Protected bool
	// Control is the address where the driver asks for profiles and counts;
	// empty for none. It is printed like that of HTTP, as "control ADDR".
	Control string
}

// Parse reads the command line and ends the program when it is wrong.
func Parse() Settings {
	var s Settings
	flag.BoolVar(&s.Stdio, "stdio", false, "serve standard input and output")
	flag.StringVar(&s.HTTP, "http", "", "serve HTTP on this address")
	flag.BoolVar(&s.Stateless, "stateless", false, "serve HTTP without sessions")
	flag.IntVar(&s.Tools, "tools", 0, "how many more tools to offer")
	flag.IntVar(&s.Typed, "typed", 0, "how many more tools to offer whose arguments have a type")
	flag.BoolVar(&s.Checked, "checked", false, "offer the tools whose arguments are checked against schemas")
	flag.BoolVar(&s.Protected, "protected", false, "let only requests with the token in")
	flag.StringVar(&s.Control, "control", "", "serve profiles and counts on this address")
	flag.Parse()
	if s.Stdio == (s.HTTP != "") {
		fmt.Fprintln(os.Stderr, "give one of -stdio and -http ADDR")
		os.Exit(2)
	}
	return s
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

// Token lets requests into a protected server. It is as long as tokens are.
var Token = strings.Repeat("benchmark-token-", 40)

package netguard_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/netguard"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	tests := []struct{ addr, kind string }{
		{"8.8.8.8", ""},
		{"93.184.216.34", ""},
		{"172.32.0.1", ""},
		{"100.128.0.1", ""},
		{"2606:2800:220:1:248:1893:25c8:1946", ""},
		{"64:ff9b::808:808", ""},
		{"::ffff:8.8.8.8", ""},

		{"127.0.0.1", "loopback"},
		{"127.255.255.254", "loopback"},
		{"::1", "loopback"},
		{"0.0.0.0", "unspecified"},
		{"::", "unspecified"},
		{"0.1.2.3", "reserved"},
		{"10.1.2.3", "private"},
		{"172.16.0.1", "private"},
		{"172.31.255.255", "private"},
		{"192.168.1.1", "private"},
		{"fc00::1", "private"},
		{"fdff::1", "private"},
		{"fec0::1", "private"},
		{"169.254.1.1", "link-local"},
		{"fe80::1", "link-local"},
		{"fe80::1%eth0", "link-local"},
		{"169.254.169.254", "metadata"},
		{"169.254.170.2", "metadata"},
		{"100.100.100.200", "metadata"},
		{"168.63.129.16", "metadata"},
		{"192.0.0.192", "metadata"},
		{"fd00:ec2::254", "metadata"},
		{"fd20:ce::254", "metadata"},
		{"100.64.0.1", "shared"},
		{"100.127.255.255", "shared"},
		{"192.0.0.1", "reserved"},
		{"192.0.2.1", "documentation"},
		{"198.51.100.1", "documentation"},
		{"203.0.113.1", "documentation"},
		{"2001:db8::1", "documentation"},
		{"3fff::1", "documentation"},
		{"198.19.0.1", "benchmark"},
		{"224.0.0.1", "multicast"},
		{"ff02::1", "multicast"},
		{"240.0.0.1", "reserved"},
		{"255.255.255.255", "reserved"},

		// Other ways to write IPv4.
		{"::ffff:127.0.0.1", "loopback"},
		{"::ffff:169.254.169.254", "metadata"},
		{"::127.0.0.1", "reserved"},
		{"64:ff9b::7f00:1", "loopback"},
		{"64:ff9b::a9fe:a9fe", "metadata"},
		{"64:ff9b:1::7f00:1", "private"},
		{"2002:7f00:1::", "tunnel"},
		{"2002:a00:1::1", "tunnel"},
		{"2001:0:5ef5:79fd::1", "tunnel"},
		{"192.88.99.1", "tunnel"},
		{"2001:20::1", "reserved"},
		{"4000::1", "reserved"},
		{"5f00::1", "reserved"},
	}
	for _, tt := range tests {
		t.Run(tt.addr, func(t *testing.T) {
			t.Parallel()
			err := netguard.Check(netip.MustParseAddr(tt.addr))
			var refused *netguard.Error
			switch {
			case tt.kind == "" && err != nil:
				t.Errorf("got %v, want no error", err)
			case tt.kind != "" && !errors.As(err, &refused):
				t.Errorf("got %v, want an Error", err)
			case tt.kind != "" && refused.Kind != tt.kind:
				t.Errorf("got kind %q, want %q", refused.Kind, tt.kind)
			}
		})
	}
	if err := netguard.Check(netip.Addr{}); err == nil {
		t.Error("no address: got no error, want one")
	}
}

// TestDial dials a server on this machine in all the ways that a URL may name it.
func TestDial(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SEC-SSRF-PRIVATE-IP")
	listener := listen(t)
	_, port, err := net.SplitHostPort(listener)
	if err != nil {
		t.Fatal(err)
	}
	resolver := names(t, map[string]netip.Addr{
		"inside.example.": netip.MustParseAddr("127.0.0.1"),
	})
	tests := []struct {
		name   string
		dialer *netguard.Dialer
		host   string
		kind   string // of the refusal; empty: it connects
	}{
		{"nil dialer", nil, "127.0.0.1", "loopback"},
		{"literal", &netguard.Dialer{}, "127.0.0.1", "loopback"},
		{"mapped", &netguard.Dialer{}, "::ffff:127.0.0.1", "loopback"},
		{"unspecified", &netguard.Dialer{}, "0.0.0.0", "unspecified"},
		{"localhost", &netguard.Dialer{}, "localhost", "loopback"},
		{"a public name for it", &netguard.Dialer{Resolver: resolver}, "inside.example", "loopback"},
		{"prefix of something else", &netguard.Dialer{Prefixes: prefixes("10.0.0.0/8")}, "127.0.0.1", "loopback"},
		{"host of another port", &netguard.Dialer{Hosts: []string{"127.0.0.1:1"}}, "127.0.0.1", "loopback"},
		{"another host", &netguard.Dialer{Hosts: []string{"example"}, Resolver: resolver}, "inside.example", "loopback"},

		{"prefix", &netguard.Dialer{Prefixes: prefixes("127.0.0.0/8")}, "127.0.0.1", ""},
		{"prefix of a mapped address", &netguard.Dialer{Prefixes: prefixes("127.0.0.1/32")}, "::ffff:127.0.0.1", ""},
		{"host", &netguard.Dialer{Hosts: []string{"127.0.0.1"}}, "127.0.0.1", ""},
		{"host and port", &netguard.Dialer{Hosts: []string{"127.0.0.1:" + port}}, "127.0.0.1", ""},
		{"name", &netguard.Dialer{Hosts: []string{"Inside.Example"}, Resolver: resolver}, "inside.example", ""},
		{"rooted name", &netguard.Dialer{Hosts: []string{"inside.example"}, Resolver: resolver}, "inside.example.", ""},
		{"name and port", &netguard.Dialer{Hosts: []string{"inside.example:" + port}, Resolver: resolver}, "inside.example", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			conn, err := tt.dialer.DialContext(t.Context(), "tcp", net.JoinHostPort(tt.host, port))
			if tt.kind == "" {
				if err != nil {
					t.Fatalf("got %v, want a connection", err)
				}
				_ = conn.Close()
				return
			}
			if err == nil {
				_ = conn.Close()
				t.Fatalf("got a connection to %s, want it refused", conn.RemoteAddr())
			}
			var refused *netguard.Error
			if !errors.As(err, &refused) || refused.Kind != tt.kind || refused.Host != tt.host {
				t.Errorf("got %v, want host %s refused as %s", err, tt.host, tt.kind)
			}
		})
	}
}

// TestRebind has a name that is public when it is looked up first and a loopback
// address afterwards: what is refused or not is what is connected to.
func TestRebind(t *testing.T) {
	t.Parallel()
	address := listen(t)
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	var asked int
	resolver := answering(t, func(string) netip.Addr {
		asked++
		if asked == 1 {
			return netip.MustParseAddr("8.8.8.8")
		}
		return netip.MustParseAddr("127.0.0.1")
	})
	d := &netguard.Dialer{Resolver: resolver}
	if got, err := resolver.LookupNetIP(t.Context(), "ip4", "rebind.example"); err != nil || netguard.Check(got[0]) != nil {
		t.Fatalf("first look: got %v %v, want a public address", got, err)
	}
	conn, err := d.DialContext(t.Context(), "tcp4", net.JoinHostPort("rebind.example", port))
	if _, refused := errors.AsType[*netguard.Error](err); !refused {
		t.Errorf("got %v %v, want it refused", conn, err)
	}
	if asked != 2 {
		t.Errorf("the name was looked up %d times, want once by the test and once by the dialer", asked)
	}
}

// TestRedirect follows a redirect from an allowed host into the network.
func TestRedirect(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SEC-SSRF-REDIRECTS")
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the guarded server was reached")
	}))
	t.Cleanup(inside.Close)
	outside := httptest.NewServer(http.RedirectHandler(inside.URL, http.StatusFound))
	t.Cleanup(outside.Close)
	guard := &netguard.Dialer{Hosts: []string{strings.TrimPrefix(outside.URL, "http://")}}
	transport := &http.Transport{DialContext: guard.DialContext}
	t.Cleanup(transport.CloseIdleConnections)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, outside.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err == nil {
		_ = resp.Body.Close()
	}
	if _, refused := errors.AsType[*netguard.Error](err); !refused {
		t.Errorf("got %v, want the second host refused", err)
	}
}

func TestNetworks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ network, address string }{
		{"udp", "8.8.8.8:53"},
		{"unix", "/run/secret.sock"},
		{"ip4:icmp", "8.8.8.8"},
		{"tcp", "no-port"},
	} {
		conn, err := (&netguard.Dialer{}).DialContext(t.Context(), tt.network, tt.address)
		if err == nil {
			_ = conn.Close()
			t.Errorf("%s %s: got a connection, want an error", tt.network, tt.address)
		}
	}
}

// listen accepts connections on this machine and closes them.
func listen(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return l.Addr().String()
}

func prefixes(s string) []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix(s)} }

func names(t *testing.T, table map[string]netip.Addr) *net.Resolver {
	return answering(t, func(name string) netip.Addr { return table[strings.ToLower(name)] })
}

// answering makes a resolver with a name server of its own, on a pipe.
func answering(t *testing.T, answer func(name string) netip.Addr) *net.Resolver {
	t.Helper()
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() { _ = far.Close() }()
			for serveName(far, answer) == nil {
			}
		}()
		t.Cleanup(func() { _ = near.Close(); <-done })
		return near, nil
	}}
}

// serveName answers one question of DNS over a stream (RFC 1035 section 4): A
// with the address, others with nothing.
func serveName(conn net.Conn, answer func(string) netip.Addr) error {
	var size [2]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return err
	}
	msg := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(conn, msg); err != nil {
		return err
	}
	var name strings.Builder
	at := 12
	for msg[at] != 0 {
		n := int(msg[at])
		name.Write(msg[at+1 : at+1+n])
		name.WriteByte('.')
		at += 1 + n
	}
	kind := binary.BigEndian.Uint16(msg[at+1:])
	out := append([]byte{}, msg[:at+5]...)
	out[2], out[3] = 0x84, 0 // an answer, authoritative
	clear(out[6:12])
	if kind == 1 {
		if addr := answer(name.String()); addr.Is4() {
			out[7] = 1
			out = append(out, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
			out = append(out, addr.AsSlice()...)
		}
	}
	binary.BigEndian.PutUint16(size[:], uint16(len(out)))
	_, err := conn.Write(append(size[:], out...))
	return err
}

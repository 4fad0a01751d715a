// Package netguard opens connections for URLs that somebody else chose: the
// address of a client's metadata document, an issuer that a server names, a page
// that a model asks for. It refuses to connect to what only this machine or its
// network can reach, which is how such a URL is abused (server-side request
// forgery; "Server-Side Request Forgery" in the security best practices).
//
// The judgement is on the address that is about to be connected to, in the last
// moment before that, and not on a name that a second look-up could answer
// differently. It is not for URLs that the operator configured, and it does not
// look at schemes, ports or paths.
package netguard

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"
)

// A Dialer connects to public addresses only. The zero value and nil are ready
// to use. Its fields must not be changed after the first use; its methods may be
// called concurrently.
//
// It guards what it dials itself: in an http.Transport, set DialContext to that
// of a Dialer and leave Proxy nil, because a proxy connects on its own.
type Dialer struct {
	// Hosts may be reached wherever they are: names or addresses, each with or
	// without a port ("localhost:8080"), compared without regard to case.
	// Whoever answers for such a name decides what is connected to.
	Hosts []string
	// Prefixes may be reached although they are not public.
	Prefixes []netip.Prefix
	// Timeout is how long connecting may take, looking up the name included; 0
	// means 10 seconds.
	Timeout time.Duration
	// Resolver looks up names; nil means that of the system.
	Resolver *net.Resolver
}

// An Error is the refusal of an address. It is found with errors.As in the
// errors of [Dialer.DialContext], and of a client that dials with it.
type Error struct {
	Host string     // what was asked for, without the port; empty in errors of [Check]
	Addr netip.Addr // what it stands for
	Kind string     // why it is refused, such as "private" or "loopback"
}

func (e *Error) Error() string {
	if e.Host == "" || e.Host == e.Addr.String() {
		return fmt.Sprintf("connect to %s: %s address, allow it explicitly if it is meant", e.Addr, e.Kind)
	}
	return fmt.Sprintf("connect to %s: %s is a %s address, allow it explicitly if it is meant", e.Host, e.Addr, e.Kind)
}

// DialContext connects to an address ("host:port") over "tcp", "tcp4" or "tcp6".
// Of the addresses of a name, it tries those that are public; the error is an
// [Error], wrapped, if none is left.
func (d *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	switch network {
	case "tcp", "tcp4", "tcp6":
	default:
		return nil, fmt.Errorf("connect to %s: network %q is not tcp", address, network)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("connect to %q: %w", address, err)
	}
	if d == nil {
		d = &Dialer{}
	}
	dialer := net.Dialer{Timeout: d.Timeout, Resolver: d.Resolver}
	if dialer.Timeout == 0 {
		dialer.Timeout = 10 * time.Second
	}
	if !d.allowsHost(host, port) {
		// The name is looked up once, by the dialer. It calls this with each
		// address it tries, between making the socket and connecting it.
		dialer.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
			return d.check(host, address)
		}
	}
	return dialer.DialContext(ctx, network, address)
}

func (d *Dialer) allowsHost(host, port string) bool {
	name := strings.TrimSuffix(host, ".")
	for _, allowed := range d.Hosts {
		if strings.EqualFold(allowed, name) || strings.EqualFold(allowed, net.JoinHostPort(name, port)) {
			return true
		}
	}
	return false
}

func (d *Dialer) check(host, address string) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("connect to %s: address %q: %w", host, address, err)
	}
	addr := to.Addr().Unmap().WithZone("")
	inner, _ := embedded(addr)
	for _, prefix := range d.Prefixes {
		if prefix.Contains(addr) || prefix.Contains(inner) {
			return nil
		}
	}
	if kind := kindOf(addr); kind != "" {
		return &Error{Host: host, Addr: addr, Kind: kind}
	}
	return nil
}

package netguard

import "net/netip"

// Check returns an [Error] unless the address is one of the public Internet: for
// those who hold an address already. To check what a name stands for and then to
// dial the name is no protection; a [Dialer] is.
func Check(addr netip.Addr) error {
	addr = addr.Unmap().WithZone("")
	if kind := kindOf(addr); kind != "" {
		return &Error{Addr: addr, Kind: kind}
	}
	return nil
}

// A special is a range that is not reached over the public Internet, or where
// nothing is that others should send us to.
type special struct {
	prefix netip.Prefix
	kind   string
}

// specials are the ranges of the IANA special-purpose registries that are not
// global, and where clouds tell their machines secrets. The first that matches
// names the reason. Of IPv6 only 2000::/3 is handed out; the rest is refused
// whether it is listed here or not.
var specials = []special{
	{netip.MustParsePrefix("169.254.169.254/32"), "metadata"},
	{netip.MustParsePrefix("169.254.170.0/24"), "metadata"},
	{netip.MustParsePrefix("100.100.100.200/32"), "metadata"},
	{netip.MustParsePrefix("168.63.129.16/32"), "metadata"}, // in a public range
	{netip.MustParsePrefix("192.0.0.192/32"), "metadata"},
	{netip.MustParsePrefix("fd00:ec2::/32"), "metadata"},
	{netip.MustParsePrefix("fd20:ce::/32"), "metadata"},

	{netip.MustParsePrefix("0.0.0.0/32"), "unspecified"},
	{netip.MustParsePrefix("0.0.0.0/8"), "reserved"},
	{netip.MustParsePrefix("10.0.0.0/8"), "private"},
	{netip.MustParsePrefix("100.64.0.0/10"), "shared"},
	{netip.MustParsePrefix("127.0.0.0/8"), "loopback"},
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local"},
	{netip.MustParsePrefix("172.16.0.0/12"), "private"},
	{netip.MustParsePrefix("192.0.0.0/24"), "reserved"},
	{netip.MustParsePrefix("192.0.2.0/24"), "documentation"},
	{netip.MustParsePrefix("192.88.99.0/24"), "tunnel"},
	{netip.MustParsePrefix("192.168.0.0/16"), "private"},
	{netip.MustParsePrefix("198.18.0.0/15"), "benchmark"},
	{netip.MustParsePrefix("198.51.100.0/24"), "documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "documentation"},
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved"}, // broadcast included

	{netip.MustParsePrefix("::/128"), "unspecified"},
	{netip.MustParsePrefix("::1/128"), "loopback"},
	{netip.MustParsePrefix("64:ff9b:1::/48"), "private"}, // NAT64 to what only the network knows
	{netip.MustParsePrefix("2001::/32"), "tunnel"},       // Teredo: an IPv4 address is inside
	{netip.MustParsePrefix("2001::/23"), "reserved"},
	{netip.MustParsePrefix("2001:db8::/32"), "documentation"},
	{netip.MustParsePrefix("2002::/16"), "tunnel"}, // 6to4: an IPv4 address is inside
	{netip.MustParsePrefix("3fff::/20"), "documentation"},
	{netip.MustParsePrefix("fc00::/7"), "private"},
	{netip.MustParsePrefix("fe80::/10"), "link-local"},
	{netip.MustParsePrefix("fec0::/10"), "private"},
	{netip.MustParsePrefix("ff00::/8"), "multicast"},
}

var (
	global6 = netip.MustParsePrefix("2000::/3")
	nat64   = netip.MustParsePrefix("64:ff9b::/96")
)

// kindOf returns why an address, not in its IPv4-mapped form and without a zone,
// is refused; nothing if it is not.
func kindOf(addr netip.Addr) string {
	if inner, ok := embedded(addr); ok {
		return kindOf(inner)
	}
	for _, s := range specials {
		if s.prefix.Contains(addr) {
			return s.kind
		}
	}
	if !addr.Is4() && !global6.Contains(addr) {
		return "reserved"
	}
	return ""
}

// embedded returns the IPv4 address that a network with NAT64 reaches for addr.
// Machines that have IPv6 only see the public IPv4 Internet like this. The other
// ways to write an IPv4 address in IPv6 are refused altogether.
func embedded(addr netip.Addr) (netip.Addr, bool) {
	if !nat64.Contains(addr) {
		return netip.Addr{}, false
	}
	b := addr.As16()
	return netip.AddrFrom4([4]byte(b[12:])), true
}

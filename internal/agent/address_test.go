//go:build linux

package agent

import (
	"net/netip"
	"strings"
	"testing"
)

// TestFromSSH: the address by which ssh came serves packets, too, if it means the same at every host.
func TestFromSSH(t *testing.T) {
	for connection, want := range map[string]string{
		"10.0.0.1 50000 10.0.0.2 22":               "10.0.0.2",
		"fd00::1 50000 fd00::2 22":                 "fd00::2",
		"::ffff:10.0.0.1 50000 ::ffff:10.0.0.2 22": "10.0.0.2",
		"::1 50000 ::1 22":                         "invalid IP",
		"fe80::1%eth0 50000 fe80::2%eth0 22":       "invalid IP",
		"fe80::1 50000":                            "invalid IP",
		"":                                         "invalid IP",
	} {
		if got := fromSSH(connection).String(); got != want {
			t.Errorf("%q: %s, want %s", connection, got, want)
		}
	}
}

// TestFirstOf: of a host's addresses the first is taken of the family by which ssh came, else of IPv4.
func TestFirstOf(t *testing.T) {
	const all = "127.0.0.1/8 ::1/128 fe80::1/64 fd00::1/64 10.0.0.1/24 10.0.1.1/24"
	for _, c := range []struct{ own, came, want string }{
		{all, "", "10.0.0.1"},
		{all, "192.0.2.1", "10.0.0.1"},
		{all, "2001:db8::1", "fd00::1"},
		{"fe80::1/64 fd00::1/64", "", "fd00::1"},
		{"fe80::1/64 fd00::1/64", "192.0.2.1", "fd00::1"},
		{"127.0.0.1/8 fe80::1/64", "", "invalid IP"},
	} {
		var own []netip.Prefix
		for text := range strings.FieldsSeq(c.own) {
			own = append(own, netip.MustParsePrefix(text))
		}
		var came netip.Addr
		if c.came != "" {
			came = netip.MustParseAddr(c.came)
		}
		if got := firstOf(own, came).String(); got != c.want {
			t.Errorf("%s, and ssh came by %q: %s, want %s", c.own, c.came, got, c.want)
		}
	}
}

package agent

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"weft/internal/sys"
)

// lookupTime is how long the name of a host may be looked up.
const lookupTime = 5 * time.Second

// address returns the address for packets of the ranks here: as WEFT_BIND says here or
// at the launcher, or the first of the interface that WEFT_INTERFACE names, or that by
// which ssh came, or that which the host's name stands for, or the first of all.
func address(b *Begin) (string, error) {
	if text := os.Getenv("WEFT_BIND"); text != "" {
		return text, nil
	}
	if b.Bind != "" {
		return b.Bind, nil
	}
	came := fromSSH(os.Getenv("SSH_CONNECTION"))
	name := os.Getenv("WEFT_INTERFACE")
	ours := "WEFT_INTERFACE"
	if name == "" {
		name = b.Interface
	}
	if name != "" {
		first, _, _ := strings.Cut(name, ",")
		own, err := sys.Addresses(first)
		if err != nil {
			return "", fmt.Errorf("%s=%s: there is no such interface", ours, name)
		}
		if a := firstOf(own, came); a.IsValid() {
			return a.String(), nil
		}
	}
	if came.IsValid() {
		return came.String(), nil
	}
	if a := fromName(b.Name); a.IsValid() {
		return a.String(), nil
	}
	own, _ := sys.Addresses("") // none are as good as an error
	if a := firstOf(own, came); a.IsValid() {
		return a.String(), nil
	}
	return "", fmt.Errorf("it has no address that others could reach; link-local ones do not count; set WEFT_BIND there")
}

// fromSSH returns this host's address from what sshd says of its connection: the
// client's address and port, and ours.
func fromSSH(connection string) netip.Addr {
	words := strings.Fields(connection)
	if len(words) != 4 {
		return netip.Addr{}
	}
	a, err := netip.ParseAddr(words[2])
	if a = a.Unmap(); err != nil || a.IsLoopback() || sys.CheckBind(a) != nil {
		return netip.Addr{}
	}
	return a
}

// fromName returns the address of ours that a name stands for.
func fromName(name string) netip.Addr {
	if _, host, found := strings.Cut(name, "@"); found {
		name = host
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookupTime)
	defer cancel()
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		return netip.Addr{}
	}
	for _, a := range addrs {
		if a = a.Unmap(); !a.IsLoopback() && sys.CheckBind(a) == nil && isOurs(a) {
			return a
		}
	}
	return netip.Addr{}
}

// IsHere reports whether a name means the host that this process runs on.
func IsHere(name string) bool {
	own, err := os.Hostname()
	if err == nil && name == own || name == "localhost" {
		return true
	}
	if strings.Contains(name, "@") {
		return false // another user's
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookupTime)
	defer cancel()
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		return false // ssh may know more: an alias, or a way
	}
	for _, a := range addrs {
		if a = a.Unmap(); a.IsLoopback() || isOurs(a) {
			return true
		}
	}
	return false
}

// Toward returns the address of this host on the way to another one's.
func Toward(address string) (string, error) {
	host := address
	if h, _, err := net.SplitHostPort(address); err == nil {
		host = h
	}
	c, err := net.Dial("udp", net.JoinHostPort(host, "9")) // nothing is sent
	if err != nil {
		return "", err
	}
	defer c.Close()
	host, _, err = net.SplitHostPort(c.LocalAddr().String())
	return host, err
}

// isOurs reports whether an interface of this host has the address.
func isOurs(a netip.Addr) bool {
	own, _ := sys.Addresses("") // none are as good as an error
	return slices.ContainsFunc(own, func(p netip.Prefix) bool { return p.Addr() == a.WithZone("") })
}

// firstOf returns the first address that another host could reach: of the family of the one by which ssh came, so that
// hosts with both and hosts with IPv6 alone agree; without that, of IPv4 if there is one.
func firstOf(own []netip.Prefix, came netip.Addr) (found netip.Addr) {
	wants4 := !came.IsValid() || came.Is4()
	for _, p := range own {
		switch a := p.Addr(); {
		case !a.IsGlobalUnicast():
		case a.Is4() == wants4:
			return a
		case !found.IsValid():
			found = a
		}
	}
	return found
}

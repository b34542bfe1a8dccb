package weft

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"weft/internal/bootstrap"
	"weft/internal/engine/wire"
	"weft/internal/join"
	"weft/internal/sys"
	"weft/internal/transport"
)

// Ranks that were told different guards cannot talk, and are told why.
func TestGuardsMustAgree(t *testing.T) {
	for _, transport := range []Transport{TransportUDP, TransportTCP} {
		var procs []*Proc
		for rank, src := range bootstrap.NewLocal(2) {
			cfg := &Config{Transport: transport, Guard: []Guard{GuardEncrypt, ""}[rank]}
			procs = append(procs, enter(t, cfg, src, func(m *join.Member) error { return m.Enter(within(t)) }))
		}
		for rank, p := range procs {
			_, err := p.Connect(within(t), 1-rank)
			if err == nil || !strings.Contains(err.Error(), "is configured with guard") {
				t.Errorf("rank %d over %s: %v", rank, transport, err)
			}
		}
	}
	if _, err := join.New(join.Settings{Guard: "rot13"}, bootstrap.NewLocal(1)[0]); err == nil ||
		!strings.Contains(err.Error(), string(GuardEncrypt)) {
		t.Errorf("a guard that there is not: %v", err)
	}
}

// The dialled rank knows as much of the guard as the dialler.
func TestGuardIsTold(t *testing.T) {
	for _, c := range []struct {
		transport   Transport
		guard, want Guard
		against     string
	}{
		{"udp", "", GuardAuthenticate, "damage, forgery, replay"},
		{"udp", GuardChecksum, GuardChecksum, "damage"},
		{"udp", GuardEncrypt, GuardEncrypt, "damage, forgery, replay, reading"},
		{"tcp", "", GuardChecksum, "strangers that connect, damage (16 bits)"},
		{"tcp", GuardAuthenticate, GuardEncrypt, "damage, forgery, replay, reading"},
		{"tcp", GuardEncrypt, GuardEncrypt, "damage, forgery, replay, reading"},
		{"shm", GuardEncrypt, "", "other users"},
	} {
		procs := joinAll(t, 2, &Config{Transport: c.transport, Guard: c.guard})
		err := runAll(within(t), procs, exchange(3, 3000, func() {}))
		if err != nil {
			t.Fatal(err)
		}
		for rank, p := range procs {
			peer := p.Peers()[1-rank]
			if peer.Guard != c.want || peer.Guards != c.against || (peer.WhyGuard == "") != (c.want == "") ||
				peer.Transport != c.transport {
				t.Errorf("%+v: rank %d says %+v", c, rank, peer)
			}
		}
	}
}

// What crosses a router is encrypted without being asked for: here each of two hosts has an
// address that is a network by itself, to which the other has a route.
func TestRoutedIsEncrypted(t *testing.T) {
	l := hosts(t, 2, 1500)
	routed := func(host int) string { return fmt.Sprintf("10.99.%d.1", host) }
	var taps []*tapped
	cfg := Config{Transport: "udp", faults: func(tr transport.Transport, _ func()) transport.Transport {
		taps = append(taps, &tapped{Transport: tr})
		return taps[len(taps)-1]
	}}
	var procs []*Proc
	for rank, src := range bootstrap.NewLocal(2) {
		cfg.Bind = routed(rank)
		err := sys.InNetwork(l.Hosts[rank].Namespace, func() error {
			for _, args := range []string{
				"address add " + routed(rank) + "/32 dev lo", "route add " + routed(1-rank) + " via " + l.Hosts[1-rank].IP.String(),
			} {
				if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
					return fmt.Errorf("ip %s: %w: %s", args, err, out)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		procs = append(procs, enter(t, &cfg, src, enterOn(t, l, rank, 1)))
	}
	if err := runAll(within(t), procs, exchange(50, 3000, func() {})); err != nil {
		t.Fatal(err)
	}
	for rank, p := range procs {
		if peer := p.Peers()[1-rank]; peer.Guard != GuardEncrypt ||
			!strings.Contains(peer.WhyGuard, "a router may lie between") {
			t.Errorf("rank %d: %+v", rank, peer)
		}
	}
	for _, tap := range taps {
		for _, pkt := range tap.heard {
			var f wire.Link
			if _, err := f.Parse(pkt); err != nil || f.Flags&wire.Encrypted == 0 ||
				bytes.Contains(pkt, make([]byte, 64)) {
				t.Errorf("a packet of %d bytes is not encrypted: %v", len(pkt), err)
			}
		}
	}
	if len(taps[1].heard) == 0 {
		t.Error("nothing was heard")
	}
}

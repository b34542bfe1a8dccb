package weft

import (
	"strings"
	"testing"

	"weft/internal/bootstrap"
)

// Ranks that were told different guards cannot talk, and are told why.
func TestGuardsMustAgree(t *testing.T) {
	for _, transport := range []string{"udp", "tcp"} {
		var procs []*Proc
		for rank, src := range bootstrap.NewLocal(2) {
			p, err := newProc(&Config{Transport: transport, Guard: []string{GuardEncrypt, ""}[rank]}, src)
			if err == nil {
				err = p.join(within(t))
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { p.Close() })
			procs = append(procs, p)
		}
		for rank, p := range procs {
			_, err := p.Connect(within(t), 1-rank)
			if err == nil || !strings.Contains(err.Error(), "was told guard") {
				t.Errorf("rank %d over %s: %v", rank, transport, err)
			}
		}
	}
	if _, err := newProc(&Config{Guard: "rot13"}, bootstrap.NewLocal(1)[0]); err == nil || !strings.Contains(err.Error(), GuardEncrypt) {
		t.Errorf("a guard that there is not: %v", err)
	}
}

// Whoever is dialled knows as much of the guard as the dialler.
func TestGuardIsTold(t *testing.T) {
	for _, c := range []struct{ transport, guard, want, against string }{
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
			if peer.Guard != c.want || peer.Guards != c.against || (peer.WhyGuard == "") != (c.want == "") || peer.Transport != c.transport {
				t.Errorf("%+v: rank %d says %+v", c, rank, peer)
			}
		}
	}
}

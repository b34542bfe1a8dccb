package weft

import (
	"context"
	"strings"
	"testing"

	"weft/internal/bootstrap"
	"weft/internal/engine/link"
)

// What protects packets follows from the two cards, and both ends find the same.
func TestGuards(t *testing.T) {
	const near, near2, far = "10.0.0.1/24", "10.0.0.2/24", "10.0.1.1/24"
	for _, c := range []struct {
		guard, transport, mine, theirs string
		want                           link.Guard
	}{
		{"", "udp", near, near2, link.Tagged},
		{"", "udp", near, far, link.Encrypted},
		{"", "udp", near, "10.0.0.2/16", link.Tagged},
		{"", "udp", near, "10.0.1.1/16", link.Encrypted}, // it thinks that they are on one segment
		{"", "udp", "10.0.0.1/32", "10.0.0.2/32", link.Encrypted},
		{"", "udp", "10.0.0.1", "10.0.0.2", link.Encrypted}, // nobody knows
		{"", "udp", near, "", link.Encrypted},
		{"", "udp", "fd00::1/64", "fd00::2/64", link.Tagged},
		{"", "udp", "fd00::1/64", "fd00:0:0:1::2/64", link.Encrypted},
		{"", "udp", "127.0.0.1/8", "127.0.0.1/8", link.Tagged},
		{"", "tcp", near, near2, link.Checked},
		{"", "tcp", near, far, link.Encrypted},
		{"", "eth", near, far, link.Checked},
		{GuardChecksum, "udp", near, far, link.Checked},
		{GuardChecksum, "tcp", near, far, link.Checked},
		{GuardAuthenticate, "eth", near, near2, link.Tagged},
		{GuardAuthenticate, "udp", near, far, link.Tagged},
		{GuardAuthenticate, "tcp", near, near2, link.Encrypted},
		{GuardEncrypt, "eth", near, near2, link.Encrypted},
		{GuardEncrypt, "udp", near, near2, link.Encrypted},
		{GuardEncrypt, "tcp", near, near2, link.Encrypted},
	} {
		here, there := &Proc{cfg: Config{Guard: c.guard}, segment: c.mine}, &Proc{cfg: Config{Guard: c.guard}, segment: c.theirs}
		g, back := here.guardFor(c.transport, card{Segment: c.theirs}), there.guardFor(c.transport, card{Segment: c.mine})
		if g.Guard != c.want || back.Guard != c.want || g.why == "" {
			t.Errorf("%q over %s from %s to %s: %v, and back %v, want %v", c.guard, c.transport, c.mine, c.theirs, g.Guard, back.Guard, c.want)
		}
	}
	if g := new(Proc).guardFor("shm", card{}); g.String() != "" {
		t.Errorf("shared memory has guard %v", g)
	}
}

func TestSegment(t *testing.T) {
	for bind, want := range map[string]string{
		"127.0.0.1:0": "127.0.0.1/8", "localhost:70": "127.0.0.1/8", "127.3.2.1:0": "127.3.2.1/8", "203.0.113.9:0": "203.0.113.9", "what": "",
	} {
		if got := segment(bind); got != want {
			t.Errorf("%s: %q, want %q", bind, got, want)
		}
	}
}

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
		err := runAll(within(t), procs, func(ctx context.Context, p *Proc) error {
			return exchange(3, 3000, func() {})(ctx, p)
		})
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

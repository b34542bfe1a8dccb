package weft

import (
	"testing"

	"weft/internal/engine/link"
)

// What protects packets follows from the two cards, and both ends find the same.
func TestGuards(t *testing.T) {
	const (
		near  = "10.0.0.1/24"
		near2 = "10.0.0.2/24"
		far   = "10.0.1.1/24"
	)
	for _, c := range []struct {
		guard                   Guard
		transport, mine, theirs string
		want                    link.Guard
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
		here := &Proc{cfg: Config{Guard: c.guard}, segment: c.mine}
		there := &Proc{cfg: Config{Guard: c.guard}, segment: c.theirs}
		g := here.guardFor(c.transport, card{Segment: c.theirs})
		back := there.guardFor(c.transport, card{Segment: c.mine})
		if g.Guard != c.want || back.Guard != c.want || g.why == "" {
			t.Errorf("%q over %s from %s to %s: %v, and back %v, want %v", c.guard, c.transport, c.mine, c.theirs, g.Guard,
				back.Guard, c.want)
		}
	}
	if g := new(Proc).guardFor("shm", card{}); g.public() != "" {
		t.Errorf("shared memory has guard %v", g)
	}
}

func TestSegment(t *testing.T) {
	for bind, want := range map[string]string{
		"127.0.0.1:0": "127.0.0.1/8", "localhost:70": "127.0.0.1/8", "127.3.2.1:0": "127.3.2.1/8",
		"203.0.113.9:0": "203.0.113.9", "what": "",
	} {
		if got := segment(bind); got != want {
			t.Errorf("%s: %q, want %q", bind, got, want)
		}
	}
}

package join

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
		guard                   string
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
		{"checksum", "udp", near, far, link.Checked},
		{"checksum", "tcp", near, far, link.Checked},
		{"authenticate", "eth", near, near2, link.Tagged},
		{"authenticate", "udp", near, far, link.Tagged},
		{"authenticate", "tcp", near, near2, link.Encrypted},
		{"encrypt", "eth", near, near2, link.Encrypted},
		{"encrypt", "udp", near, near2, link.Encrypted},
		{"encrypt", "tcp", near, near2, link.Encrypted},
	} {
		here := &Member{Settings: Settings{Guard: c.guard}, card: Card{Segment: c.mine}}
		there := &Member{Settings: Settings{Guard: c.guard}, card: Card{Segment: c.theirs}}
		g := here.guardFor(c.transport, Card{Segment: c.theirs})
		back := there.guardFor(c.transport, Card{Segment: c.mine})
		if g.Guard != c.want || back.Guard != c.want || g.Why == "" {
			t.Errorf("%q over %s from %s to %s: %v, and back %v, want %v", c.guard, c.transport, c.mine, c.theirs, g.Guard,
				back.Guard, c.want)
		}
	}
	if g := new(Member).guardFor("shm", Card{}); g.Name() != "" {
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

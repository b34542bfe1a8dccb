package udp

import (
	"strings"
	"testing"

	"weft/internal/doorbell"
	"weft/internal/transport"
	"weft/internal/transport/transporttest"
	"weft/internal/waittest"
)

func TestTransport(t *testing.T) {
	transporttest.Run(t, func(t testing.TB, p transporttest.Place) (transport.Transport, transport.Doorbell) {
		u, err := Open(Config{Bell: p.Bell})
		if err != nil {
			t.Fatal(err)
		}
		return u, p.Bell
	})
}

// Packets that the kernel joined come apart again.
func TestCut(t *testing.T) {
	for _, c := range []struct {
		in      string
		segment int
		want    string
	}{
		{"abcdef", 0, "abcdef"}, {"abcdef", 6, "abcdef"}, {"abcdef", 9, "abcdef"},
		{"abcdef", 2, "ab cd ef"}, {"abcdef", 4, "abcd ef"}, {"abcdef", -1, "abcdef"},
	} {
		var got []string
		for rest := []byte(c.in); len(rest) > 0; {
			var pkt []byte
			pkt, rest = cut(rest, c.segment)
			got = append(got, string(pkt))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%q in pieces of %d: %q, want %q", c.in, c.segment, s, c.want)
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add([]byte("abcdef"), 2)
	f.Fuzz(func(t *testing.T, b []byte, segment int) {
		whole := 0
		for rest := b; len(rest) > 0; {
			var pkt []byte
			pkt, rest = cut(rest, segment)
			if len(pkt) == 0 {
				t.Fatal("no progress")
			}
			whole += len(pkt)
		}
		if whole != len(b) {
			t.Errorf("%d of %d bytes", whole, len(b))
		}
	})
}

func FuzzCard(f *testing.F) {
	f.Add("127.0.0.1:1234/65507")
	f.Add("[::1]:9/1400")
	f.Add(card{}.String())
	f.Fuzz(func(t *testing.T, s string) {
		c, err := parseCard(s)
		if err != nil {
			return
		}
		if again, err := parseCard(c.String()); err != nil || again != c {
			t.Errorf("%q became %v, then %v: %v", s, c, again, err)
		}
	})
}

// TestOneSegment: a socket that is for one segment refuses what may have crossed a router.
func TestOneSegment(t *testing.T) {
	open := func(one bool) *Transport {
		u, err := Open(Config{Bell: doorbell.NewChan(), OneSegment: one})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { u.Close() })
		return u
	}
	to := open(true)
	near := open(true)
	far := open(false)
	for i, from := range []*Transport{far, near} { // over loopback they arrive in this order
		if err := from.Dial(1, to.Card()); err != nil {
			t.Fatal(err)
		}
		from.Send([]transport.Out{{Peer: 1, Header: []byte{byte(i)}}})
	}
	var in [4]transport.In
	n := 0
	waittest.Until(t, "something arrives", func() bool { n = to.Poll(in[:]); return n > 0 })
	if n != 1 || in[0].Data[0] != 1 {
		t.Errorf("%d packets, the first %v", n, in[0].Data)
	}
}

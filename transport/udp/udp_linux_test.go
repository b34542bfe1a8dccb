package udp

import (
	"strings"
	"testing"

	"weft/transport"
	"weft/transport/transporttest"
)

func TestTransport(t *testing.T) {
	transporttest.Run(t, func(t testing.TB, rank, size int, bell transport.Doorbell, ev transport.Events) (transport.Transport, transport.Doorbell) {
		u, err := Open(Config{Bell: bell})
		if err != nil {
			t.Fatal(err)
		}
		return u, bell
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

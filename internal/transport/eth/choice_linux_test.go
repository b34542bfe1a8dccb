package eth

import "testing"

// Long runs take datagrams where these arrive, and so does what follows one, if it is not short; where frames do not
// arrive everything does.
func TestDatagramsArePreferred(t *testing.T) {
	for _, c := range []struct {
		frames, datagrams    bool
		follow, bytes, first int
		want                 bool
	}{
		{true, true, 0, leastRun, 0, true}, {true, true, 0, leastRun - 1, followSize, false},
		{true, true, 1, 100, followSize, true}, {true, true, 1, 100, followSize - 1, false},
		{false, true, 0, 1, 1, true}, {true, false, 1, leastRun, followSize, false}, {false, false, 0, 1, 1, false},
	} {
		p := peerPaths{follow: int32(c.follow)}
		p.works[framePath].Store(c.frames)
		p.works[datagramPath].Store(c.datagrams)
		if got := p.prefersDatagrams(c.bytes, c.first); got != c.want {
			t.Errorf("%+v: datagrams %v", c, got)
		}
	}
}

// Interfaces that are none, or no Ethernet, are refused before any right is needed.
func TestInterfacesThatAreNone(t *testing.T) {
	for _, name := range []string{"lo", "nonsense"} {
		if _, _, err := openPort(new(Config), name); err == nil {
			t.Errorf("%s is opened", name)
		}
	}
}

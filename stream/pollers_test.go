package stream

import (
	"testing"
	"time"
)

// TestPollers: a connection polls only where neither side takes a processor from the other.
func TestPollers(t *testing.T) {
	for _, c := range []struct {
		own, both float64
		threads   int
		want      int
	}{
		{0.5, 0.5, 2, 0}, // half a processor of a cgroup
		{0.5, 4, 2, 0},   // and a peer with more
		{1, 1, 2, 0},
		{1.5, 1.5, 2, 0},
		{1, 2, 1, 1}, // a processor each
		{2, 2, 2, 2},
		{2, 2, 1, 1},
		{2.5, 2.5, 8, 2},
		{64, 64, 64, 64},
	} {
		if got := pollers(c.own, c.both, c.threads); got != c.want {
			t.Errorf("%+v: %d may poll", c, got)
		}
	}
	w := &waiter{c: &Conn{}, budget: defaultSpin} // whose process has no processor to spare
	if w.poll(epoch) || polling.Load() != 0 {
		t.Error("it polls")
	}
}

// TestNapsTogether: on a part of a processor nobody naps for a while when one goroutine would beside another; on whole
// processors others still do.
func TestNapsTogether(t *testing.T) {
	defer napless.Store(0)
	for _, part := range []bool{true, false} {
		napless.Store(0)
		c := &Conn{naps: 1, processors: 1}
		if part {
			c.processors = 0
		}
		if !c.mayNap() {
			t.Fatalf("%v: nobody may nap", part)
		}
		if c.mayNap() {
			t.Errorf("%v: two nap on two threads", part)
		}
		if until := time.Duration(napless.Load()); part != (until >= together) {
			t.Errorf("%v: none naps until %v", part, until)
		}
		napped.Add(-1)
		napless.Add(int64(time.Hour)) // so much time has passed less
		if c.mayNap() == part {
			t.Errorf("%v: one naps %v", part, !part)
		}
		if !part {
			napped.Add(-1)
		}
	}
}

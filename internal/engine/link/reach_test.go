package link

import (
	"testing"
	"time"
)

// far is a path whose idle round trip takes a millisecond.
func far(t *testing.T, cfg Config) *path {
	p := newPath(t, cfg)
	p.c.base = unmeasured
	p.c.young = unmeasured
	p.c.longest = 0
	p.trips(8, time.Millisecond-idleTrip)
	return p
}

// On a long path the window grows beyond Config.Window as long as packets hardly wait, up to Config.Reach; it follows
// no single round trip, and is what it was when the link has been silent.
func TestLongPathStretches(t *testing.T) {
	p := far(t, Config{})
	p.trips(20, time.Millisecond-idleTrip)
	p.want("after many round trips", 24<<10*packet)
	p.c.shrink()
	p.want("after a silence", 256*packet)
	p = far(t, Config{Window: 256})
	p.trips(20, time.Millisecond-idleTrip)
	p.want("a window that is configured", 256*packet)
	p = newPath(t, Config{})
	p.trips(40, 0)
	p.want("a short path", 256*packet)
}

// A path whose first round trips were long, because an end did not look, is a short one.
func TestShortPathThatSeemedLong(t *testing.T) {
	p := far(t, Config{})
	p.trips(8, time.Millisecond-idleTrip)
	if p.c.most <= p.c.modest {
		t.Fatalf("the window may hold %d packets", p.c.packets())
	}
	p.trips(3, 0)
	if p.c.most != p.c.modest {
		t.Errorf("the window may hold %d packets on a short path", p.c.packets())
	}
}

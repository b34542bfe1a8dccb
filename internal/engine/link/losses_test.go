package link

import (
	"testing"
	"time"
)

// Losses halve the window, once for all packets that were on their way together.
func TestLosses(t *testing.T) {
	p := newPath(t, Config{})
	p.trip(2 * idleTrip)
	was := p.c.window
	p.c.lost(p.next-5, p.next, 2)
	p.c.lost(p.next-3, p.next, 1)
	p.want("losses while packets wait", was/2)
	p.c.lost(p.next, p.next+10, 1)
	p.want("the next loss", was/4)
}

// While packets hardly wait a few losses are those of the wire. Many are not.
func TestLossesOfTheWire(t *testing.T) {
	p := newPath(t, Config{})
	p.c.delay = 0
	was := p.c.window
	for i := range 1000 {
		p.c.acknowledged(p.next, p.next, 100)
		p.c.lost(p.next+uint32(i), p.next+uint32(i)+1, 1)
	}
	if p.c.window < was {
		t.Errorf("one in a hundred: a window of %d, was %d", p.c.window, was)
	}
	for i := range 100 {
		p.c.acknowledged(p.next, p.next, 10)
		p.c.lost(p.next+2000+uint32(i), p.next+2001+uint32(i), 1)
	}
	if p.c.window > 2*packet {
		t.Errorf("one in ten: a window of %d, was %d", p.c.window, was)
	}
}

// A loss while few packets of this sender wait, and they wait long, says that others have filled the queue.
func TestLossesOfOthers(t *testing.T) {
	for _, c := range []struct {
		delay    time.Duration
		window   int
		competes bool
	}{{may + 3*idleTrip, leastWindow, true}, {may, leastWindow, false}, {may + 3*idleTrip, initialWindow, false}} {
		p := newPath(t, Config{})
		p.c.window = c.window
		p.c.delay = c.delay
		for range 3 {
			p.c.lost(p.next, p.next+1, 1)
			p.next++
		}
		if p.c.competes != c.competes {
			t.Errorf("%+v: %+v", c, p.c)
		}
	}
}

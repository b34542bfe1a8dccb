package link

import "time"

// On a long path Config.Window packets are soon on their way, and the sender waits for their acknowledgements most of
// the time. So the most that the window may hold doubles after each round trip in which it was full and packets hardly
// waited, ends and all, up to Config.Reach. It follows bandwidth times delay in this way: a window beyond that makes
// packets wait. On a short path the most stays Config.Window. A receiver divides it among its senders there before
// any delay can tell that they are many. (PROTOCOL §2.7)

// longPath is the least round trip of a path that is long: in 200 us a link of 15 Gbit/s carries what a window holds.
const longPath = 200 * time.Microsecond

// typical is how many bytes of Config.Reach count as a packet of the window.
const typical = 1 << 10

// packets returns how many packets the window holds at most.
func (c *congestion) packets() int { return c.most / packet }

// long reports whether the path is long.
func (c *congestion) long() bool { return c.base >= longPath && !c.fixed }

// Long reports whether the path is long: the delay, and not the ends, says how much must be on its way.
func (c *Conn) Long() bool { return c.congestion.long() }

// stretch lets more packets be on their way after a round trip, if more would have been of use, and if the last round
// trips have been alike: where an end does not look all the time, single ones may be long. A path that has turned out
// to be short needs no more.
func (c *congestion) stretch() {
	switch {
	case !c.long():
		c.alike = 0
		if c.most > c.modest {
			c.shrink()
		}
		return
	case c.count == 0:
		return
	case c.quick > c.base+c.base/4:
		c.alike = 0
		return
	}
	if c.alike++; c.alike <= settled || !c.full || c.most >= c.reach || c.window < min(c.most, c.share) {
		return
	}
	unbroken := c.slow == c.most
	c.most = min(2*c.most, c.reach)
	c.share = max(c.most/c.senders, packet)
	if unbroken {
		c.slow = c.most
	}
}

// settled is how many round trips must be alike before the window grows beyond Config.Window.
const settled = 3

// shrink gives up what stretch has allowed.
func (c *congestion) shrink() {
	c.most = c.modest
	c.share = max(c.most/c.senders, packet)
	c.window = min(c.window, c.share)
	c.slow = min(c.slow, c.most)
}

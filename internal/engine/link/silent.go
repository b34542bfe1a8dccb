package link

// A link whose peer is silent holds little: a process may have thousands. What it has used
// for packets goes back when nothing has come for a while, and comes again with the next
// frame.

// fewSlots is how many slots a link has first.
const fewSlots = 4

// rest gives back what the link does not need while its peer is silent, unless something
// is under way. It is called when one of the two has asked the other for a sign of life:
// the second time, neither has sent a frame since.
func (c *Conn) rest() {
	busy := c.live.busy
	c.live.busy = false
	if busy || c.send.base != c.send.tail || c.recv.kept.count > 0 {
		return
	}
	c.send.slots = nil
	c.sent = nil
	c.congestion.shrink()
	c.recv.kept = kept{last: c.recv.kept.last, untold: c.recv.kept.untold}
	c.recv.assemblies = nil
	c.auth.out.silence(true)
	c.auth.in.silence(true)
	if c.auth.replay.seen != nil {
		c.auth.replay.shorten()
	}
}

// wake ends the rest, or does nothing: there is a frame to send, or one has come.
func (c *Conn) wake() {
	c.live.busy = true
	if c.auth.replay.seen == nil {
		c.auth.replay.widen()
		c.auth.out.silence(false)
		c.auth.in.silence(false)
	}
}

// Resting reports whether the link holds no more than what it needs while its peer is
// silent.
func (c *Conn) Resting() bool { return c.auth.replay.seen == nil }

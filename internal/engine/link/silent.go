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
	busy := c.busy
	c.busy = false
	if busy || c.base != c.tail || c.kept.count > 0 {
		return
	}
	c.slots, c.sent = nil, nil
	c.kept, c.assemblies = kept{last: c.kept.last, untold: c.kept.untold}, nil
	c.out.silence(true)
	c.in.silence(true)
	if c.replay.seen != nil {
		c.replay.shorten()
	}
}

// wake ends the rest, or does nothing: there is a frame to send, or one has come.
func (c *Conn) wake() {
	c.busy = true
	if c.replay.seen == nil {
		c.replay.widen()
		c.out.silence(false)
		c.in.silence(false)
	}
}

// Resting reports whether the link holds no more than what it needs while its peer is
// silent.
func (c *Conn) Resting() bool { return c.replay.seen == nil }

package msg

// A channel that has been closed keeps its numbers, which go on if the channel is opened again. Programs may close many
// channels, so what is kept is a rest of a few bytes for each peer. A frame of the channel, or Open, makes a port of it
// again.
//
//	event                                            the closed channel is
//	Close, and nothing is under way                  a rest
//	a later Open or Close of a channel looks at it,  a rest
//	and nothing is under way any more
//	a frame of the channel has come                  a port that is not open
//	Open                                             a port

// A rest is what is left of a port.
type rest struct {
	cfg   *Config // that of other rests, too
	pairs []numbers
}

// Numbers are those of the messages that go to a peer and that come from it.
type numbers struct{ rank, next, expected, told uint32 }

// find returns the port of a channel, open or not, or nil if the channel has never been used.
func (l *Layer) find(channel uint16) *Port {
	if p := l.ports[channel]; p != nil || len(l.rests) == 0 {
		return p
	}
	r, ok := l.rests[channel]
	if !ok {
		return nil
	}
	delete(l.rests, channel)
	p := l.newPort(channel)
	p.cfg = *r.cfg
	for _, n := range r.pairs {
		d := p.pair(int(n.rank))
		d.base = n.next
		d.sent = n.next
		d.next = n.next
		d.asked = n.next
		d.urged = n.next
		d.expected = n.expected
		d.told = n.told
	}
	p.lastPair = nil
	l.retire(p)
	return p
}

// looks is how many closed ports are looked at when a channel is opened or closed.
const looks = 4

// retire notes that a port is closed.
func (l *Layer) retire(p *Port) {
	if !p.retired {
		p.retired = true
		l.closed = append(l.closed, p)
	}
}

// putAway turns closed ports into rests on which nothing is under way. It looks at some, in turn.
func (l *Layer) putAway() {
	for range min(looks, len(l.closed)) {
		p := l.closed[0]
		l.closed = append(l.closed[:0], l.closed[1:]...)
		switch {
		case p.open || p.revoked != nil:
			p.retired = false
		case p.underWay():
			l.closed = append(l.closed, p)
		default:
			l.putAwayPort(p)
		}
	}
}

// keep returns what is kept of a port's configuration: most programs use the same for all.
func (l *Layer) keep(cfg *Config) *Config {
	if k := l.kept; k != nil && k.alike(cfg) {
		return k
	}
	k := *cfg
	l.kept = &k
	return l.kept
}

// alike reports whether two configurations without lists are the same.
func (c *Config) alike(o *Config) bool {
	return c.RecvBuffer == o.RecvBuffer && c.SendBuffer == o.SendBuffer && c.MaxMessage == o.MaxMessage &&
		c.Flow == o.Flow && c.Service == o.Service &&
		c.Sources == nil && o.Sources == nil && c.Destinations == nil && o.Destinations == nil
}

func (l *Layer) putAwayPort(p *Port) {
	r := rest{cfg: l.keep(&p.cfg)}
	for _, rank := range sortedKeys(p.pairs) {
		d := p.pairs[rank]
		r.pairs = append(r.pairs, numbers{uint32(rank), d.next, d.expected, d.told})
	}
	delete(l.ports, p.channel)
	if l.last == p {
		l.last = nil
	}
	if l.rests == nil {
		l.rests = map[uint16]rest{}
	}
	l.rests[p.channel] = r
}

// underWay reports whether anything is under way on a closed port, or on loan.
func (p *Port) underWay() bool {
	if p.freezing.frozen || p.freezing.op != nil || p.send.used != 0 || p.recv.used != 0 ||
		len(p.offered) > 0 || len(p.owed) > 0 || p.invited != nil {
		return true
	}
	for op := p.layer.sends.First(); op != nil; op = op.link.Next() {
		if op.port == p {
			return true
		}
	}
	for _, d := range p.pairs {
		if d.base != d.next || !d.waiting.Empty() || len(d.flushes) > 0 || d.partial != nil || d.into != nil ||
			d.flow != flowing || d.standing != welcome {
			return true
		}
	}
	return false
}

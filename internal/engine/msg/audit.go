package msg

import "fmt"

// Occupancy returns the bytes of the receive buffer that hold messages which
// have arrived and have not been received, counted one by one, and the buffer's
// size. What programs have on loan comes on top of it.
func (p *Port) Occupancy() (bytes, limit int) {
	for b := p.arrived.First(); b != nil; b = b.link.Next() {
		if b.kind != death {
			bytes += len(b.mem)
		}
	}
	for _, d := range p.pairs {
		if d.partial != nil {
			bytes += len(d.partial.mem)
		}
	}
	return bytes, p.cfg.RecvBuffer
}

// Unfinished says what the layer still has to do or keeps, a line each. Receives
// that wait for messages do not count, nor messages that have not been received yet.
func (l *Layer) Unfinished() (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, channel := range sortedKeys(l.ports) {
		p := l.ports[channel]
		for _, rank := range sortedKeys(p.pairs) {
			p.pairs[rank].unfinished(func(format string, args ...any) {
				add("channel %d, rank %d: "+format, append([]any{channel, rank}, args...)...)
			})
		}
		if len(p.owed) > 0 {
			add("channel %d: of %d bytes to receive into %d are used and %d promised", channel, p.cfg.RecvBuffer, p.recv.used,
				p.promised)
		}
		if p.send.used != 0 && len(lines) == 0 {
			add("channel %d: %d bytes of the send buffer are in use for nothing", channel, p.send.used)
		}
		if p.freezing.op != nil {
			add("channel %d: a freeze waits for %d peers", channel, len(p.freezing.fenced))
		}
		if p.promised != 0 && len(lines) == 0 {
			add("channel %d: %d bytes are promised to no rank", channel, p.promised)
		}
	}
	for op := l.sends.First(); op != nil; op = op.link.Next() {
		add("a message of %d bytes waits to be fetched by rank %d", len(op.Buf), op.Peer)
	}
	for op := l.fetching.First(); op != nil; op = op.link.Next() {
		add("a message of %d bytes is being fetched from rank %d", op.Offer.Total, op.Offer.From)
	}
	return lines
}

// unfinished reports what a port still has to do for a peer.
func (d *pair) unfinished(add func(format string, args ...any)) {
	if held := d.next - d.sent; held > 0 {
		add("%d messages are held", held)
	}
	if out := d.sent - d.base; out > 0 {
		why := ""
		if d.flow != flowing {
			why = fmt.Sprintf("; number %d was refused", d.refusedAt)
		}
		add("%d messages from number %d on are not acknowledged%s", out, d.base, why)
	}
	if !d.waiting.Empty() {
		add("a send waits for room")
	}
	if len(d.flushes) > 0 {
		add("a flush waits for number %d", d.flushes[0].until)
	}
	if d.standing.isOwed() {
		add("it was refused and is owed a GO")
	}
	if d.standing == called {
		add("it was told to GO and %d bytes are kept for it", d.room)
	}
	if d.partial != nil || d.into != nil {
		add("%d of %d bytes of a message have arrived", d.got, d.total)
	}
}

// Waiting says what receives wait for, a line each.
func (l *Layer) Waiting() (lines []string) {
	for _, channel := range sortedKeys(l.ports) {
		for op := l.ports[channel].posted.First(); op != nil; op = op.link.Next() {
			from := "any rank"
			if op.Peer != Any {
				from = fmt.Sprintf("rank %d", op.Peer)
			}
			lines = append(lines, fmt.Sprintf("channel %d: a receive waits for a message from %s", channel, from))
		}
	}
	return lines
}

// Loaned returns how many bytes of the receive buffer the program has on loan, and the
// buffer's size, if senders have been refused because of that; else 0.
func (p *Port) Loaned() (bytes, limit int) {
	if held, _ := p.Occupancy(); len(p.owed) > 0 {
		bytes = p.recv.used - held
	}
	return bytes, p.cfg.RecvBuffer
}

package msg

// Reserve returns a block to write a short message for a peer into, or nil if
// there is no room now. Commit sends it, Discard gives it back.
func (p *Port) Reserve(to, n int) *Block {
	if !p.open || p.freezing.frozen || n > MaxEager || p.layer.gone[to] != nil {
		return nil
	}
	d := p.pair(to)
	if !d.waiting.Empty() {
		return nil
	}
	return p.reserve(d, n)
}

// Shorten makes the message of a reserved block shorter. It takes as much room as before.
func (b *Block) Shorten(n int) { b.n = min(b.n, n) }

// Commit sends a reserved block.
func (p *Port) Commit(to int, b *Block) {
	b.use++ // the program has it no more
	if p.layer.gone[to] != nil {
		p.send.put(b)
		return
	}
	d := p.pair(to)
	if !p.direct(d, nil, b.Data(), len(b.mem)) {
		p.append(d, entry{block: b}, len(b.mem))
		return
	}
	p.number(d, len(b.mem)).block = b
	p.gone(d, len(b.mem))
}

// Discard gives a reserved block back unsent.
func (p *Port) Discard(to int, b *Block) {
	p.send.put(b)
	p.feed()
}

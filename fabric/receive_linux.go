package fabric

import (
	"weft/fabric/internal/ofi"
	"weft/internal/transport"
)

// receiving is the state of what comes in.
//
//	a slot is  which means                                                     then
//	posted     it belongs to libfabric                                         Poll of the endpoint returns it
//	unposted   libfabric had no room for it                                    posted
//	early      its packet has overtaken an earlier one of its sender           arrived, or unposted if the sender is gone
//	arrived    its packet is the next of its sender                            lent
//	lent       the node reads its packet                                       posted, by Release
type receiving struct {
	window   uint32 // packets that a peer may send before it hears that some were consumed
	sizes    []int  // of the messages in the slots
	from     []*peer
	unposted []int
	arrived  ring
	lent     []int
	done     [ofi.Polled]ofi.Done
	owing    []*peer // that are to hear how many of their packets were consumed
	dropped  uint64  // messages that were none of a peer's
	posted   int     // slots
	took     bool    // the packet that Peek has lent is to be taken off arrived
}

// looks is how often a goroutine that waits looks at the completion queue in one crossing to C.
const looks = 16

// A ring is slots in the order of their arrival.
type ring struct {
	slots [receives]int
	first int
	n     int
}

func (r *ring) push(i int) {
	r.slots[(r.first+r.n)%receives] = i
	r.n++
}

func (r *ring) pop() int {
	i := r.slots[r.first]
	r.first = (r.first + 1) % receives
	r.n--
	return i
}

// Bounds of the window. All peers together have about as many packets as there are slots: what does not find one waits
// in the provider.
const (
	leastWindow = 8
	mostWindow  = 64
)

func (r *receiving) open(s *slots, size int) {
	r.window = uint32(min(max(s.receives/max(size-1, 1), leastWindow), mostWindow))
	r.sizes = make([]int, s.receives)
	r.from = make([]*peer, s.receives)
	r.unposted = make([]int, s.receives)
	for i := range r.unposted {
		r.unposted[i] = i
	}
	r.lent = make([]int, 0, s.receives)
	r.owing = make([]*peer, 0, size)
}

// post gives free slots to libfabric, as far as it has room: many at once, since a crossing to C costs more than to
// begin a receive. The lock is held.
func (t *Transport) post() {
	r := &t.in
	for len(r.unposted) > 0 {
		n := min(len(r.unposted), ofi.Posted)
		last := len(r.unposted) - 1
		for k := range n {
			i := r.unposted[last-k]
			t.end.Receive(k, t.slots.message(i, headSize+mtu), t.slots.registered, t.slots.context(i))
		}
		begun := t.end.Post(n)
		r.posted += begun
		r.unposted = r.unposted[:last+1-begun]
		if begun < n {
			return // the rest is tried again, as long as there is any
		}
	}
}

// harvest takes what has ended, and makes the provider go on. It looks so many times for something. The lock is held.
func (t *Transport) harvest(looks int) {
	r := &t.in
	for n := len(r.done); n == len(r.done); {
		n = t.end.Poll(&r.done, looks)
		for i := range r.done[:n] {
			t.ended(&r.done[i])
		}
	}
	t.afterwards()
}

// afterwards posts the free slots once they are a quarter of the posted ones, and tells peers what was consumed. The
// lock is held.
func (t *Transport) afterwards() {
	if some := 4; some*len(t.in.unposted) > t.in.posted {
		t.post()
	}
	if len(t.in.owing) > 0 {
		t.repay()
	}
}

// ended handles an operation that has ended.
func (t *Transport) ended(d *ofi.Done) {
	if d.Context == 0 {
		return // the number that is missing at the receiver shows what was lost
	}
	i := t.slots.index(d.Context)
	if i < t.slots.receives {
		t.in.posted--
	}
	switch {
	case i > t.sending.brief:
		t.accessed(i-t.sending.brief-1, d.Err)
	case i >= t.slots.receives:
		p := t.sending.release(i)
		if d.Err != nil {
			t.broken(p, d.Err)
		}
	case d.Err != nil || d.Size < t.slots.head || !t.accept(i, d):
		t.in.unposted = append(t.in.unposted, i)
	}
}

// accept handles a message, and reports whether its slot is needed further.
func (t *Transport) accept(i int, d *ofi.Done) bool {
	h := t.slots.parse(t.slots.message(i, headSize), d.Beside)
	p := t.peers.Get(int(h.token & (1<<rankBits - 1)))
	if p == nil || h.token != p.theirs || p.state == gone {
		t.in.dropped++
		return false
	}
	if consumed := expand(p.acknowledged, h.consumed, 14); consumed-p.acknowledged <= p.sent-p.acknowledged {
		p.acknowledged = consumed
	}
	switch h.kind {
	case greeting:
		p.greeted = true
		return false
	case packet:
		return t.sort(p, expand(p.next, h.number, 16), i, d.Size)
	}
	return false
}

// sort puts a packet where its number says: providers may tell of the end of operations in another order than that in
// which they began.
func (t *Transport) sort(p *peer, number uint32, i, size int) bool {
	r := &t.in
	r.sizes[i] = size
	r.from[i] = p
	ahead := number - p.next
	switch {
	case size <= t.slots.head || ahead >= r.window:
		r.dropped++
		return false
	case ahead > 0:
		return p.keep(number, i, r.window)
	}
	r.arrived.push(i)
	p.next++
	for p.early != nil && p.early[p.next%r.window] > 0 {
		r.arrived.push(p.early[p.next%r.window] - 1)
		p.early[p.next%r.window] = 0
		p.next++
	}
	return true
}

// Poll lends packets that have arrived.
func (t *Transport) Poll(dst []transport.In) (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.look() {
		return 0
	}
	r := &t.in
	for ; n < len(dst) && r.arrived.n > 0; n++ {
		i := r.arrived.pop()
		r.lent = append(r.lent, i)
		dst[n] = transport.In{From: r.from[i].rank, Data: t.slots.message(i, r.sizes[i])[t.slots.head:]}
	}
	return n
}

// look looks for packets, for a goroutine of the node, and reports whether there are some. The lock is held.
func (t *Transport) look() bool {
	if t.closed {
		return false
	}
	t.taken()
	if t.in.arrived.n == 0 {
		t.harvest(looks)
	} else {
		t.afterwards()
	}
	t.duty.looked()
	if t.in.arrived.n == 0 {
		return false
	}
	t.duty.armed = false
	return true
}

// Release ends the loan of the last Poll.
func (t *Transport) Release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, i := range t.in.lent {
		t.consume(i)
	}
	t.in.lent = t.in.lent[:0]
	if !t.closed {
		t.afterwards()
	}
}

// consume takes note that a packet was consumed, of which its sender is told if it would have to wait soon. The lock is
// held.
func (t *Transport) consume(i int) {
	r := &t.in
	p := r.from[i]
	if p.consumed++; p.consumed-p.told == r.window/2 {
		r.owing = append(r.owing, p)
	}
	r.unposted = append(r.unposted, i)
}

// Peek lends the first packet that has arrived.
func (t *Transport) Peek(peer int) (from int, pkt []byte, maybe bool) {
	r := &t.in
	t.mu.Lock()
	if !t.look() {
		t.mu.Unlock()
		return 0, nil, false
	}
	i := r.arrived.slots[r.arrived.first]
	from = r.from[i].rank
	pkt = t.slots.message(i, r.sizes[i])[t.slots.head:]
	t.mu.Unlock()
	if peer >= 0 && from != peer {
		return 0, nil, true
	}
	return from, pkt, false
}

// Took takes the packet that Peek has lent: the next look, or the next packet that is sent, takes it off arrived, under
// the lock that these hold anyway.
func (t *Transport) Took() { t.in.took = true }

// taken carries Took out. The lock is held.
func (t *Transport) taken() {
	if t.in.took {
		t.in.took = false
		t.consume(t.in.arrived.pop())
	}
}

// repay tells peers how many of their packets were consumed, as far as there is room for that. The lock is held.
func (t *Transport) repay() {
	r := &t.in
	kept := r.owing[:0]
	for _, p := range r.owing {
		if p.state == ready && p.consumed-p.told >= r.window/2 && !t.tell(p, credit) {
			kept = append(kept, p)
		}
	}
	r.owing = kept
}

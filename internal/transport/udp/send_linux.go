package udp

import (
	"weft/internal/transport"
)

// Send sends packets. Runs of equal length to one peer leave together.
func (t *Transport) Send(pkts []transport.Out) int {
	for i := 0; i < len(pkts); {
		p := t.peers.Sending(pkts[i].Peer)
		if p == nil {
			return i
		}
		n, _ := t.Run(pkts[i:])
		if size(&pkts[i]) > p.now() {
			n = 1 // the kernel does not cut what is too long for the path
		}
		sent := t.send(p, pkts[i:i+n])
		if i += sent; sent < n {
			return i
		}
	}
	return len(pkts)
}

// Run returns how many of the first packets can be sent as one datagram that the kernel cuts,
// and how many bytes they have. They go to one peer, and have one size; the last may be shorter.
// A repeat is among them only if batches to the peer are known to arrive.
func (t *Transport) Run(pkts []transport.Out) (n, bytes int) {
	const most = 60000 // bytes in a datagram, and 64 packets
	each := size(&pkts[0])
	bytes = each
	if t.alwaysSingle(&pkts[0]) {
		return 1, bytes
	}
	for n = 1; n < min(len(pkts), 64); n++ {
		s := size(&pkts[n])
		if pkts[n].Peer != pkts[0].Peer || s > each || bytes+s > most || t.alwaysSingle(&pkts[n]) {
			return n, bytes
		}
		bytes += s
		if s < each {
			return n + 1, bytes
		}
	}
	return n, bytes
}

// alwaysSingle reports whether a packet must not leave in a batch, since it is a repeat.
func (t *Transport) alwaysSingle(o *transport.Out) bool {
	if o.Again == 0 {
		return false
	}
	p := t.peers.Sending(o.Peer)
	return o.Again > 1 || p == nil || !p.cut.again()
}

// repeats counts the packets that have been sent before.
func repeats(pkts []transport.Out) (n int) {
	for i := range pkts {
		n += min(pkts[i].Again, 1)
	}
	return n
}

func size(o *transport.Out) int { return len(o.Header) + len(o.Payload) }

// send sends a run of packets to a peer, and returns how many left.
func (t *Transport) send(p *peer, pkts []transport.Out) int {
	t.look(p, len(pkts), pkts[0].Again > 0)
	if len(pkts) > 1 && t.socket.GSO && p.cut.may() {
		ok, single := t.batch(p, pkts)
		if ok {
			p.cut.sent(len(pkts), repeats(pkts))
			return len(pkts)
		}
		if !single {
			return 0
		}
	}
	refused := t.socket.Counts.Refused
	for i := range pkts {
		o := &pkts[i]
		if !t.socket.Send(p.addr, o.Header, o.Payload) {
			return i
		}
		t.alone(p, o.Again)
	}
	if t.socket.Counts.Refused != refused {
		t.measure(p) // the packets may have been too long
	}
	return len(pkts)
}

// batch sends a run for the kernel to cut. It reports whether the kernel took the run, and if
// not, whether the packets can be sent singly. The kernel refuses what is too long for the route,
// or what the device cannot do. Packets to this peer then get shorter, or batches to it are
// switched off for a while.
func (t *Transport) batch(p *peer, pkts []transport.Out) (ok, single bool) {
	ok, refusal := t.socket.SendSegments(p.addr, size(&pkts[0]), len(pkts), func(i int) ([]byte, []byte) {
		return pkts[i].Header, pkts[i].Payload
	})
	switch {
	case ok:
		t.counts.Batches++
	case refusal != nil:
		t.counts.Batches++
		t.counts.Uncut++
		if t.measure(p); p.now() >= size(&pkts[0]) {
			p.cut.off("the kernel does not take batches: " + refusal.Error())
		}
	}
	return ok, refusal != nil
}

// Passed says that a packet to a peer has taken another path than this transport, and how
// often it was sent before. So batches are blamed only for losses of their own.
func (t *Transport) Passed(peer, again int) {
	if p := t.peers.Sending(peer); p != nil {
		t.alone(p, again)
	}
}

// alone counts a packet that has left singly and was sent again times before. Batches are switched off for the peer
// if far more of them get lost.
func (t *Transport) alone(p *peer, again int) {
	if p.cut.alone(again) {
		t.counts.Switched++
	}
}

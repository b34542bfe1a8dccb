package traffic

import (
	"encoding/binary"
	"time"

	"weft/internal/sim"
)

// A rival is a TCP connection, beside the links, that has bytes to send without end. Its congestion window is that of
// CUBIC in its Reno-friendly region [RFC 9438 §4.3], where every round trip of some milliseconds is: it grows by
// about half a packet in a round trip, whatever the delay, and is multiplied by 0.7 when a packet is lost. So it
// fills the queue of the narrowest port.
type rival struct {
	net      *Network
	from, to int
	window   float64 // packets
	slow     float64 // below it the window doubles
	next     uint64
	flying   []uint64 // in their order
	recover  uint64   // losses of packets before it have been answered
	heard    sim.Time
	unheard  int    // packets that have arrived and are not acknowledged
	got      uint64 // bytes that have arrived
}

const (
	rivalGrows   = 3 * (1 - rivalKeeps) / (1 + rivalKeeps)
	rivalKeeps   = 0.7 // of the window, after a loss
	rivalTimeout = 200 * time.Millisecond
	rivalAcks    = 2  // packets to an acknowledgement
	rivalHeader  = 66 // bytes of a packet that are none of the connection's
)

// compete starts a TCP connection. Host from does nothing else from then on.
func (n *Network) compete(from, to int) *rival {
	r := &rival{net: n, from: from, to: to, window: 10, slow: 1 << 20, heard: n.world.Now()}
	n.sim.Machine(from).Handler = r
	n.sim.Machine(to).Handler = &kernel{r, n.sim.Machine(to).Handler}
	r.send()
	n.world.After(rivalTimeout, r.watch)
	return r
}

// A kernel takes the packets of a TCP connection, and leaves all others to the process.
type kernel struct {
	rival   *rival
	process sim.Handler
}

// Packet acknowledges a packet of the connection at once.
func (k *kernel) Packet(from int, b []byte) {
	r := k.rival
	if from != r.from {
		k.process.Packet(from, b)
		return
	}
	r.got += uint64(len(b) - rivalHeader)
	if r.unheard++; r.unheard < rivalAcks {
		return
	}
	r.unheard = 0
	r.net.sim.Send(r.to, r.from, append(make([]byte, rivalHeader), b[:8]...), nil)
}

// Timer is the process's.
func (k *kernel) Timer() { k.process.Timer() }

// Packet takes an acknowledgement. Packets do not overtake each other, so earlier packets that are missing are lost.
func (r *rival) Packet(_ int, b []byte) {
	seq := binary.LittleEndian.Uint64(b[rivalHeader:])
	r.heard = r.net.world.Now()
	acked := 0
	for len(r.flying) > 0 && r.flying[0] <= seq {
		if acked++; acked > rivalAcks {
			r.lost(r.flying[0])
		}
		r.flying = r.flying[1:]
	}
	if r.window < r.slow {
		r.window += rivalAcks
	} else {
		r.window += rivalGrows * rivalAcks / r.window
	}
	r.send()
}

// Timer is never called.
func (r *rival) Timer() {}

func (r *rival) lost(seq uint64) {
	if seq < r.recover {
		return
	}
	r.window = max(r.window*rivalKeeps, 2)
	r.slow = r.window
	r.recover = r.next
}

// send fills the window, as far as the host's own link takes packets soon.
func (r *rival) send() {
	now := r.net.world.Now()
	for float64(len(r.flying)) < r.window && r.net.sim.Free(r.from, r.to).Sub(now) < time.Millisecond {
		header := binary.LittleEndian.AppendUint64(make([]byte, 0, 8), r.next)
		r.net.sim.Send(r.from, r.to, header, r.net.payload[:r.net.MTU-len(header)])
		r.flying = append(r.flying, r.next)
		r.next++
	}
}

// watch begins anew when no acknowledgement has come for the time of a timeout.
func (r *rival) watch() {
	if r.net.world.Now().Sub(r.heard) >= rivalTimeout {
		r.slow = max(r.window/2, 2)
		r.window = 1
		r.flying = r.flying[:0]
		r.recover = r.next
		r.heard = r.net.world.Now()
		r.send()
	}
	r.net.world.After(rivalTimeout/4, r.watch)
}

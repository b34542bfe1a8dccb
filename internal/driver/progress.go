package driver

import (
	"weft/internal/engine/link"
	"weft/internal/interleave"
	"weft/internal/monotime"
	"weft/internal/transport"
)

// batch is how many packets are received or sent at a time.
const batch = 64

// batchBytes is how many bytes a transport must have lent for it to be asked again although it has lent fewer packets
// than it could: it may keep the rest of a long message until that memory has been given back.
const batchBytes = 8 << 10

// receiving is what the driver remembers of the packets that have arrived.
type receiving struct {
	polled monotime.Time // when the transports were looked at last
	since  monotime.Time // when they were before that, if packets have come since: told to the engine
}

// sending is what the driver remembers of the packets that have left.
//
//	state    is shown by      the node
//	flowing  not Blocked      has sent everything that the engine had to send
//	blocked  Engine.Blocked   has offered packets for which a transport had no room
//	paused   paused           has more to send, and room for it: others had to have their turn
//
//	from     event                                                to
//	flowing  a transport has no room for a packet                 blocked
//	flowing  a long message, and a goroutine waits for the lock   paused
//	blocked  react offers the packets again, and they find room   flowing
//	paused   react, after the lock was free                       flowing
type sending struct {
	packets uint64 // that transports have taken
	paused  bool
}

// scratch is memory that is used under the lock. It keeps nothing of the program's memory between two calls, and of a
// transport's only what the transport keeps itself.
type scratch struct {
	in      [batch]transport.In
	out     [batch]transport.Out
	packets [batch]link.Packet
	wanted  []int  // ranks to dial
	self    []byte // a packet of this process to itself
}

// progress receives what has arrived, runs the timers that are due and sends what there is
// to send, unless the node is closed. It reports whether something had arrived: then
// there may be more. The lock is held.
func (n *Node) progress() (any bool) {
	if n.life.closed {
		return false
	}
	now := n.clock()
	now, any = n.receive(now)
	n.react(now)
	return any
}

// most is how many batches are received from a transport before other transports have
// their turn, however many more have come.
const most = 16

// receive hands the engine what has arrived. It returns the time, which a flood lets go
// on, and whether anything had arrived: then react must follow. The lock is held.
func (n *Node) receive(now monotime.Time) (later monotime.Time, any bool) {
	n.straight.row = 0
	since := n.receiving.polled
	n.receiving.polled = now
	left := false // packets in a transport
	served := n.eng.RMA.Stats.Served
	for tr, t := range n.transports.all {
		for tries := 1; ; tries++ {
			k := t.Poll(n.scratch.in[:])
			if k == 0 {
				break
			}
			any = true
			bytes := 0
			for i := range n.scratch.in[:k] {
				from := n.scratch.in[i].From
				if from < 0 {
					from = n.transports.unknown[tr]
					n.since(since)
				}
				bytes += len(n.scratch.in[i].Data)
				n.eng.Recv(now, from, n.scratch.in[i].Data)
			}
			if n.timeline != nil {
				n.noteIn(t, k)
			}
			t.Release()
			if k < batch && (bytes < batchBytes || !t.Pending()) {
				break
			}
			now = n.clock()
			n.flush(now) // answers must not wait for the end of a flood
			if n.pressed() || tries == most {
				left = true
				break // nor other goroutines and transports
			}
		}
	}
	if left && n.bell.State() != transport.Awake {
		n.alert() // nobody rings for packets that came before the doorbell was armed
	}
	if n.memory.written != nil && n.eng.RMA.Stats.Served != served {
		close(n.memory.written)
		n.memory.written = nil
	}
	return now, any
}

// react does what is due and sends what there is to send. The lock is held.
func (n *Node) react(now monotime.Time) {
	if n.eng.Timed() && !now.Before(n.eng.Deadline()) {
		n.eng.Advance(now)
	}
	n.markGone()
	if n.eng.Blocked() && n.cfg.Host == nil {
		n.offerAgain()
	}
	n.flush(now)
}

// offerAgain makes the engine offer packets again that found no room. A host says when there is some. The lock is held.
func (n *Node) offerAgain() {
	n.eng.Retry()
	n.sending.paused = false
}

// run is how many bytes a goroutine sends before it looks for what has arrived, if other
// goroutines of its process wait: for the lock, since what they want to send goes ahead of
// the rest of a long message, or for what a peer sends them. A run takes a transport some
// tens of microseconds. LongRun holds where no goroutine waits: peers may still ask this
// process for something, such as a lock or its memory.
const (
	run     = 64 << 10
	longRun = 1 << 20
)

// longEnough reports whether a goroutine that has sent so many bytes looks for arrivals before
// it goes on. The lock is held.
func (n *Node) longEnough(bytes int) bool {
	switch {
	case bytes < run || n.cfg.Host != nil:
		return false
	case n.pressed() || n.duty.Asleep() > 0:
		return true
	default:
		return bytes >= longRun
	}
}

// flush sends what the engine has to send, or a run of it, tells the calls that have ended,
// and dials the peers that are missing, unless the node is closed. The lock is held.
func (n *Node) flush(now monotime.Time) {
	if n.life.closed {
		return
	}
	if n.eng.Quiet() {
		n.complete() // and an old alarm does no harm
		return
	}
	for bytes := 0; ; {
		if n.longEnough(bytes) {
			n.pause(now)
			break
		}
		rank, k, urgent := n.eng.Output(now, n.scratch.packets[:])
		if k == 0 {
			break
		}
		if rank == n.cfg.Engine.Rank {
			n.loop(now)
			continue
		}
		p := n.peer(rank)
		for i := range k {
			o := &n.scratch.out[i]
			packet := &n.scratch.packets[i]
			o.Peer = rank
			o.Header = packet.Header
			o.Payload = packet.Payload
			o.Urgent = urgent
			o.Bulk = packet.Bulk
			o.Again = packet.Again
			bytes += len(o.Header) + len(o.Payload)
		}
		taken := p.Transport.Send(n.scratch.out[:k])
		if n.timeline != nil {
			n.noteOut(p, taken)
		}
		n.eng.Taken(now, rank, k, taken, n.scratch.packets[:])
		clear(n.scratch.packets[:k])
		clear(n.scratch.out[:k])
		n.sending.packets += uint64(taken)
		if resized := p.Transport.Resized(); len(resized) > 0 {
			n.resize(now, p.Transport, resized)
		}
	}
	n.complete()
	if n.scratch.wanted = n.eng.Wanted(n.scratch.wanted[:0]); len(n.scratch.wanted) > 0 {
		for _, rank := range n.scratch.wanted {
			if n.cfg.Host != nil {
				n.cfg.Host.Later(func() { n.dial(rank) })
			} else {
				interleave.Go(func() { n.dial(rank) })
			}
		}
	}
	if n.scratch.wanted = n.eng.Awaited(n.scratch.wanted[:0]); len(n.scratch.wanted) > 0 {
		n.await(n.scratch.wanted)
	}
	if n.cfg.Host != nil {
		n.cfg.Host.Alarm(n.eng.Deadline())
		return
	}
	n.remind(now)
}

// pause puts off what is left to send until other goroutines had their turn. The goroutine on
// duty goes on as soon as the lock has been free. The lock is held.
func (n *Node) pause(now monotime.Time) {
	n.eng.Pause()
	n.sending.paused = n.eng.Blocked()
}

// remind makes the goroutine on duty look now if it sleeps for longer than the timers allow, or without
// knowing of packets that found no room. The lock is held.
func (n *Node) remind(now monotime.Time) {
	switch {
	case n.duty.Alarm() == 0 || n.life.closed: // it is awake
	case n.eng.Timed() && n.duty.Late(n.eng.Deadline(), now):
		n.alert()
	case n.eng.Blocked() && !n.waiting.retrying && !(n.sending.paused && n.duty.Poller() != nil):
		n.alert()
	}
}

// resize tells the engine how long packets may be now.
func (n *Node) resize(now monotime.Time, t transport.Transport, ranks []int) {
	for _, rank := range ranks {
		n.eng.Resize(now, rank, t.PeerMTU(rank))
	}
}

// loop hands a packet that this process sends to itself back to the engine.
func (n *Node) loop(now monotime.Time) {
	if n.scratch.self == nil {
		n.scratch.self = make([]byte, 1<<16)
	}
	size := copy(n.scratch.self, n.scratch.packets[0].Header)
	size += copy(n.scratch.self[size:], n.scratch.packets[0].Payload)
	n.eng.Taken(now, n.cfg.Engine.Rank, 1, 1, n.scratch.packets[:])
	n.scratch.packets[0] = link.Packet{}
	n.eng.Recv(now, n.cfg.Engine.Rank, n.scratch.self[:size])
}

// since tells the engine, once, that the packets which it gets now may have arrived at any
// time after t. On a host the time of their arrival is known.
func (n *Node) since(t monotime.Time) {
	if t != n.receiving.since && n.cfg.Host == nil {
		n.receiving.since = t
		n.eng.Since(t)
	}
}

// complete ends the calls whose operations have ended, and wakes their goroutines. The lock is
// held.
func (n *Node) complete() {
	for op := n.eng.Msg.Finished(); op != nil; op = n.eng.Msg.Finished() {
		op.Owner.(*Call).end(n)
	}
	for op := n.eng.RMA.Finished(); op != nil; op = n.eng.RMA.Finished() {
		op.Owner.(*Call).end(n)
	}
	for op := n.eng.Coord.Finished(); op != nil; op = n.eng.Coord.Finished() {
		op.Owner.(*Call).end(n)
	}
}

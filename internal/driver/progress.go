package driver

import (
	"weft/internal/interleave"
	"weft/internal/monotime"
	"weft/internal/mutant"
	"weft/internal/record"
	"weft/internal/transport"
)

// progress receives what has arrived, does what is due and sends what there is
// to send, unless the node is closed. It reports whether something had arrived: then
// there may be more. The lock is held.
func (n *Node) progress() (any bool) {
	if n.closed && !mutant.On(mutant.UsedAfterClose) {
		return false
	}
	now := n.clock()
	now, any = n.receive(now)
	n.react(now)
	return any
}

// most is how many batches are received from a transport before others have
// their turn: a flood must not keep us.
const most = 16

// receive hands the engine what has arrived. It returns the time, which a flood lets go
// on, and whether anything had arrived: then react must follow. The lock is held.
func (n *Node) receive(now monotime.Time) (later monotime.Time, any bool) {
	since := n.glanced
	n.glanced = now
	served := n.eng.RMA.Stats.Served
	for tr, t := range n.trs {
		for range most {
			k := t.Poll(n.in[:])
			if k == 0 {
				break
			}
			any = true
			for i := range n.in[:k] {
				from := n.in[i].From
				if from < 0 {
					from = n.unknown[tr]
					n.since(since)
				}
				n.recv(now, from, n.in[i].Data)
			}
			if n.timeline != nil {
				n.noteIn(t, k)
			}
			t.Release()
			if k < batch {
				break
			}
			now = n.clock()
			n.flush(now) // answers must not wait for the end of a flood
			if n.pressed() {
				break // nor other goroutines
			}
		}
	}
	if n.written != nil && n.eng.RMA.Stats.Served != served {
		close(n.written)
		n.written = nil
	}
	return now, any
}

// react does what is due and sends what there is to send. The lock is held.
func (n *Node) react(now monotime.Time) {
	if n.eng.Timed() && !now.Before(n.eng.Deadline()) {
		n.tape.Step("advance", now, 0)
		n.eng.Advance(now)
	}
	n.markGone()
	if n.eng.Blocked() {
		n.tape.Step("retry", now, 0)
		n.eng.Retry()
		n.paused = false
	}
	n.flush(now)
}

// run is after how many bytes a goroutine that sends lets others of its process have their
// turn, if one waits for the lock: what that wants to send is to go ahead of what is left of
// a long message. It takes a transport some tens of microseconds.
const run = 64 << 10

// flush sends what the engine has to send, or a run of it, tells the calls that have ended,
// and dials the peers that are missing, unless the node is closed. The lock is held.
func (n *Node) flush(now monotime.Time) {
	if n.closed {
		return
	}
	if n.eng.Quiet() {
		n.complete() // and an old alarm does no harm
		return
	}
	for bytes := 0; ; {
		if bytes >= run && n.pressed() && n.cfg.Host == nil {
			n.pause(now)
			break
		}
		rank, k, urgent := n.output(now)
		if k == 0 {
			break
		}
		if rank == n.cfg.Engine.Rank {
			n.loop(now)
			continue
		}
		p := n.peer(rank)
		for i := range k {
			o := &n.out[i]
			o.Peer, o.Header, o.Payload, o.Urgent, o.Bulk = rank, n.packets[i].Header, n.packets[i].Payload, urgent, n.packets[i].Bulk
			o.Again = n.packets[i].Again
			bytes += len(o.Header) + len(o.Payload)
		}
		taken := p.Transport.Send(n.out[:k])
		if n.timeline != nil {
			n.noteOut(p, taken)
		}
		n.taken(now, rank, k, taken)
		n.sent += uint64(taken)
		if resized := p.Transport.Resized(); len(resized) > 0 {
			n.resize(now, p.Transport, resized)
		}
	}
	n.complete()
	if n.wanted = n.eng.Wanted(n.wanted[:0]); len(n.wanted) > 0 {
		n.tape.Step("wanted", now, 0)
		for _, rank := range n.wanted {
			if n.cfg.Host != nil {
				n.cfg.Host.Later(func() { n.dial(rank) })
			} else {
				interleave.Go(func() { n.dial(rank) })
			}
		}
	}
	if n.cfg.Host != nil {
		n.cfg.Host.Alarm(n.eng.Deadline())
		return
	}
	if n.sleepUntil != 0 && (n.late(now) || n.eng.Blocked() && !n.retrying) {
		n.sleepUntil = 0
		n.alert()
	}
}

// pause puts off what is left to send until others had their turn: whoever is on duty goes
// on as soon as the lock has been free. The lock is held.
func (n *Node) pause(now monotime.Time) {
	n.tape.Step("pause", now, 0)
	n.eng.Pause()
	n.paused = n.eng.Blocked()
}

// late reports whether whoever is on duty would wake too late for a timer. The
// service's next look is soon enough: the timers of a link are started and
// stopped with every packet.
func (n *Node) late(now monotime.Time) bool {
	if !n.eng.Timed() || n.eng.Deadline() >= n.sleepUntil {
		return false
	}
	return n.sleeper != nil || !n.watching || n.sleepUntil > now.Add(tick)
}

// resize tells the engine how long packets may be now.
func (n *Node) resize(now monotime.Time, t transport.Transport, ranks []int) {
	for _, rank := range ranks {
		mtu := t.PeerMTU(rank)
		if n.tape != nil {
			n.tape.Note(record.Event{Do: "resize", Now: now, Rank: rank, N: mtu})
		}
		n.eng.Resize(now, rank, mtu)
	}
}

// loop hands a packet that this process sends to itself back to the engine.
func (n *Node) loop(now monotime.Time) {
	if n.self == nil {
		n.self = make([]byte, 1<<16)
	}
	size := copy(n.self, n.packets[0].Header)
	size += copy(n.self[size:], n.packets[0].Payload)
	n.taken(now, n.cfg.Engine.Rank, 1, 1)
	n.recv(now, n.cfg.Engine.Rank, n.self[:size])
}

// since tells the engine, once, that the packets which it gets now may have come at any
// time after t. On a host they come when it says so.
func (n *Node) since(t monotime.Time) {
	if t != n.told && n.cfg.Host == nil {
		n.told = t
		n.tape.Step("since", t, 0)
		n.eng.Since(t)
	}
}

// recv, output and taken are the engine's, recorded.
func (n *Node) recv(now monotime.Time, from int, pkt []byte) {
	n.tape.Recv(now, from, pkt)
	n.eng.Recv(now, from, pkt)
}

func (n *Node) output(now monotime.Time) (rank, k int, urgent bool) {
	rank, k, urgent = n.eng.Output(now, n.packets[:])
	if n.tape != nil {
		n.tape.Note(record.Event{Do: "output", Now: now, Rank: rank, N: k})
	}
	return rank, k, urgent
}

func (n *Node) taken(now monotime.Time, rank, k, taken int) {
	if n.tape != nil {
		n.tape.Note(record.Event{Do: "taken", Now: now, Rank: rank, N: k, M: taken})
	}
	n.eng.Taken(now, rank, k, taken, n.packets[:])
}

// complete tells the calls whose operations have ended. The lock is held.
func (n *Node) complete() {
	for op := n.eng.Msg.Finished(); op != nil; op = n.eng.Msg.Finished() {
		n.tape.Op("finished", op)
		op.Owner.(*Call).end(n)
	}
	for op := n.eng.RMA.Finished(); op != nil; op = n.eng.RMA.Finished() {
		n.tape.Op("finished", op)
		op.Owner.(*Call).end(n)
	}
	for op := n.eng.Coord.Finished(); op != nil; op = n.eng.Coord.Finished() {
		n.tape.Op("finished", op)
		op.Owner.(*Call).end(n)
	}
}

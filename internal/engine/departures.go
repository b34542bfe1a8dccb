package engine

import (
	"cmp"
	"errors"
	"slices"

	"weft/failure"
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// A Departure is a rank that takes part no more: it is gone, or its program has returned. What it had sent before may
// still come on channels where it was refused, but it writes nothing more to memory.
type Departure struct {
	Rank int
	Why  *failure.PeerError
}

// Departures returns those known so far, in order. The list only grows.
func (e *Engine) Departures() []Departure { return e.departures }

// News reports, once, that a rank is gone, or that less of it comes than before: see msg.Layer.Silent.
func (e *Engine) News() bool {
	news := e.news
	e.news = false
	return news
}

// Return says that the program of this process has ended. Each peer that this rank reaches is told so (DONE) when it
// has accepted everything that was sent to it. Return reports these ranks. A peer that this rank comes to reach later
// is told then; others must be told in another way if they wait for something of this rank: see Awaited. Regions stay
// exposed, and this rank stays the home of its locks and other objects. (PROTOCOL §5)
func (e *Engine) Return() (told []int) {
	if e.returned {
		return nil
	}
	e.returned = true
	e.Msg.Leave()
	e.Msg.Drain()
	e.RMA.Return()
	e.Coord.Return()
	for _, rank := range e.ranks() {
		if p := e.peers[rank]; p.reached() && rank != e.cfg.Rank {
			e.tell(p)
			told = append(told, rank)
		}
	}
	e.tellDone()
	return told
}

// An untold peer has not been told yet that the program of this process has ended, or not all of it.
type untold struct {
	*peer
	last wire.Done // how it was told last
	open []uint16  // and on which channels something came then, in order
}

// tell makes sure that a peer learns that the program of this process has ended.
func (e *Engine) tell(p *peer) {
	if !p.told {
		p.told = true
		e.returnUntold = append(e.returnUntold, untold{peer: p})
	}
}

// await makes sure that this process learns of the end of a peer's program, from which it waits for something. A peer
// that has been heard of tells by itself.
func (e *Engine) await(rank int) {
	p := e.known(rank)
	knows := p != nil && (p.gone != nil || p.returned || p.conn == nil && p.mtu != 0 || p.conn != nil && p.conn.Heard())
	if rank != e.cfg.Rank && !knows && !e.awaits[rank] {
		e.awaits[rank] = true
		e.awaited = append(e.awaited, rank)
	}
}

// Awaited moves to dst the ranks of which the launcher must tell when their programs have returned. Returned must
// follow for each of them.
func (e *Engine) Awaited(dst []int) []int {
	dst = append(dst, e.awaited...)
	e.awaited = e.awaited[:0]
	return dst
}

// Telling reports whether Return waits for peers to accept what was sent to them.
func (e *Engine) Telling() bool { return len(e.returnUntold) > 0 }

// tellDone sends DONE to the peers that have accepted everything: the program has ended. A peer that has refused
// something is told so, too, with what still comes; and then each time that there is less. (PROTOCOL §5)
func (e *Engine) tellDone() {
	keep := e.returnUntold[:0]
	for _, u := range e.returnUntold {
		if u.gone != nil {
			continue
		}
		open, soon := e.Msg.Undrained(u.rank, e.channels[:0])
		writes, soonWritten := e.RMA.Undrained(u.rank)
		e.channels = open
		if len(open) == 0 && !writes {
			u.q.PushLast(wire.Done{}.Append(u.q.Head()), nil, true)
			continue
		}
		if !soon && !soonWritten {
			u.tellMore(open, writes)
		}
		keep = append(keep, u)
	}
	clear(e.returnUntold[len(keep):])
	e.returnUntold = keep
}

// tellMore tells a peer what still comes: at first all channels, and after that those on which nothing comes any more.
func (u *untold) tellMore(open []uint16, writes bool) {
	done := wire.Done{More: true, Writes: writes, Less: u.last.More}
	names := open
	if done.Less {
		if len(open) == len(u.open) && writes == u.last.Writes {
			return
		}
		names = slices.DeleteFunc(u.open, func(channel uint16) bool {
			_, found := slices.BinarySearch(open, channel)
			return found
		})
	}
	for more := true; more; {
		some := names[:min(len(names), wire.MaxOpen)]
		names = names[len(some):]
		more = len(names) > 0
		done.On = more && !done.Less
		u.q.PushLast(done.Append(u.q.Head()), wire.AppendChannels(nil, some), true)
	}
	u.last = done
	u.open = slices.Clone(open)
}

// onDone takes note of the end of a peer's program. What the peer has begun before may still come. It is a departure as
// soon as memory has all its writes: a message may stay refused for ever, for want of a port.
func (e *Engine) onDone(from int, f wire.Done, payload []byte) {
	p := e.peer(from)
	switch {
	case !f.More:
		e.Returned(from)
	case !p.returned && from != e.cfg.Rank:
		why := &failure.PeerError{Rank: from, Cause: errReturned, Clean: true}
		e.news = true
		e.Msg.Ending(from, why, msg.Coming{On: f.On, Channels: wire.Channels(payload)}, f.Less)
		e.RMA.Returned(from, why)
		e.Coord.Returned(from, why)
		if !f.Writes {
			e.depart(p, why)
		}
		e.tellDone()
	}
}

// Returned says that the program of a peer has ended. The peer no longer takes or sends messages: sends to it and
// receives from it end as if it had left. What arrived before stays, and its regions stay exposed. (PROTOCOL §5)
func (e *Engine) Returned(rank int) {
	p := e.peer(rank)
	if p.gone != nil || p.returned || rank == e.cfg.Rank {
		return
	}
	p.returned = true
	e.news = true
	why := &failure.PeerError{Rank: rank, Cause: errReturned, Clean: true}
	e.depart(p, why)
	e.Msg.Down(rank, why)
	e.RMA.Returned(rank, why)
	e.Coord.Returned(rank, why)
	e.tellDone()
}

// depart notes a departure, once.
func (e *Engine) depart(p *peer, why *failure.PeerError) {
	if !p.departed {
		p.departed = true
		e.departures = append(e.departures, Departure{p.rank, why})
	}
}

// watch begins to watch a peer behind a reliable transport that does not tell when it
// is stopped.
func (e *Engine) watch(now monotime.Time, p *peer) {
	p.pulse = link.NewPulse(&e.cfg.Link)
	p.pulse.Watch(now, true)
	if p.pulse.Deadline() != monotime.Never {
		p.watched = true
		e.watched++
		e.links.add(p)
	}
}

// deadline returns when a peer in timers has something to do.
func (p *peer) deadline() monotime.Time {
	if p.conn != nil {
		return p.conn.Deadline()
	}
	return p.pulse.Deadline()
}

// advance does what is due for a peer, and reports whether it has been silent for too
// long.
func (e *Engine) advance(now monotime.Time, p *peer) (silent bool) {
	if p.conn != nil {
		if p.conn.Advance(now); p.conn.Resting() {
			e.rest(p)
		}
		e.active.Add(p.q)
		return p.conn.Silent()
	}
	if p.pulse.Advance(now) {
		e.rest(p)
		p.q.Push(wire.Beat{Ask: true}.Append(p.q.Head()), nil, true)
	}
	return p.pulse.Silent()
}

// rest gives back what a peer that is silent does not need: a job may have thousands.
func (e *Engine) rest(p *peer) {
	p.q.Rest()
	e.Msg.Rest(p.rank)
}

// onNode handles the frames that are about the peer itself.
func (e *Engine) onNode(from int, frame []byte) error {
	switch wire.Type(frame[0]) {
	case wire.TypeBye:
		return wire.TakeLoaded(from, frame, wire.ParseBye, e.onBye)
	case wire.TypeDone:
		return wire.TakeLoaded(from, frame, wire.ParseDone, e.onDone)
	default:
		return wire.Take(from, frame, wire.ParseBeat, e.onBeat)
	}
}

// onBye handles the last frame of a peer.
func (e *Engine) onBye(from int, f wire.Bye, why []byte) {
	p := e.peer(from)
	p.parted = p.parted || from != e.cfg.Rank
	if !f.Failed {
		e.Down(from, errLeft, true)
		return
	}
	e.Down(from, errors.New(cmp.Or(wire.Reason(why), "its program has failed")), false)
}

// onBeat answers a sign of life that asks for one.
func (e *Engine) onBeat(from int, f wire.Beat) {
	if p := e.peer(from); f.Ask && from != e.cfg.Rank {
		e.rest(p)
		p.q.Push(wire.Beat{}.Append(p.q.Head()), nil, true)
	}
}

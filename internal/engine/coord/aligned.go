package coord

import (
	"time"

	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// An aligned barrier lets its members go on at the same instant (PROTOCOL
// §9.5.4, paper 001's aligned start). The master, the first member, lets all wait
// until the farthest has heard. How far they are it is told: as times of flight,
// as paper 001 works them out from hops; or each member has measured it, together
// with what the master's clock says, by asking for the time now and then. Then
// the master names an instant of its own clock.
type clock struct {
	round    int           // questions asked
	offset   time.Duration // master's clock minus this one
	delay    time.Duration // one way
	spread   time.Duration // of the question that told so: half its round trip
	ready    bool
	farthest time.Duration // master: the longest delay of those that have arrived
	due      monotime.Time // when the program may go on
	phase    uint64
}

const (
	questions  = 8                // before the first phase
	slack      = time.Microsecond // for the release to be sent
	reconsider = 16               // questions after which an old answer counts no more
)

// known reports whether this member can say when the master means.
func (c *clock) known(b *barrier) bool { return c.ready || b.me == 0 || b.o.Flight != nil }

// ping asks the master for the time.
func (b *barrier) ping(now monotime.Time) {
	if b.me == 0 || b.o.Flight != nil {
		return
	}
	b.clock.round++
	b.layer.send(b.member(0), wire.Event{Kind: wire.EventPing, ID: b.o.ID, Phase: uint64(now)})
}

// pong answers.
func (l *Layer) pong(now monotime.Time, from int, f wire.Event) {
	l.send(from, wire.Event{Kind: wire.EventPong, ID: f.ID, Phase: f.Phase, Aux: uint64(now)})
}

// onPong: the quickest answer tells best.
func (b *barrier) onPong(now monotime.Time, f wire.Event) {
	c := b.clock
	if c == nil || b.me == 0 || monotime.Time(f.Phase) > now {
		b.layer.Stats.Dropped++
		return
	}
	half := now.Sub(monotime.Time(f.Phase)) / 2
	if c.round%reconsider == 1 || half < c.spread {
		c.spread, c.delay = half, half
		c.offset = monotime.Time(f.Aux).Sub(monotime.Time(f.Phase).Add(half))
	}
	if c.round < questions {
		b.ping(now)
		return
	}
	if !c.ready {
		c.ready = true
		if b.arrived > b.done {
			b.input(now, b.arrived, 0, wire.Event{})
		}
	}
}

// noteDelay notes how far a member is that has arrived.
func (c *clock) noteDelay(f wire.Event) {
	if f.Kind == wire.EventToken && f.Slot == 0 {
		c.farthest = max(c.farthest, min(time.Duration(f.Aux), time.Second))
	}
}

// release decides when all may go on, at the master; at the others it works out
// what the master has decided.
func (b *barrier) release(now monotime.Time, f wire.Event) wire.Event {
	c := b.clock
	switch {
	case b.me != 0 && f.Flag:
		c.due = now.Add(time.Duration(f.Aux))
	case b.me != 0:
		c.due = monotime.Time(f.Aux).Add(-c.offset)
	case b.o.Flight != nil:
		var farthest time.Duration
		for _, d := range b.o.Flight {
			farthest = max(farthest, d)
		}
		c.due = now.Add(farthest)
		return wire.Event{Flag: true, Aux: uint64(farthest)}
	default:
		c.due = now.Add(2*c.farthest + time.Duration(b.size)*slack)
		c.farthest = 0
		return wire.Event{Aux: uint64(c.due)}
	}
	return wire.Event{}
}

// stamp completes the token that this member sends: with its delay on the way
// up, with the instant on the way down.
func (c *clock) stamp(b *barrier, t *wire.Event, i int, release wire.Event) {
	if b.me != 0 {
		t.Aux = uint64(c.delay)
		return
	}
	t.Flag, t.Aux = release.Flag, release.Aux
	if release.Flag { // how long this one waits after it has heard
		t.Aux -= uint64(b.o.Flight[i+1])
	}
}

// postpone makes the phase end when it is time.
func (b *barrier) postpone(now monotime.Time, phase uint64) bool {
	c := b.clock
	if b.me != 0 && b.o.Flight == nil {
		b.ping(now) // clocks drift apart
	}
	if c.due <= now {
		return false
	}
	c.phase = phase
	b.layer.timers = append(b.layer.timers, b)
	return true
}

// Timed reports whether the layer needs the time.
func (l *Layer) Timed() bool { return l.aligned > 0 }

// Deadline returns when Advance has something to do.
func (l *Layer) Deadline() monotime.Time {
	at := monotime.Never
	for _, b := range l.timers {
		at = at.Min(b.clock.due)
	}
	return at
}

// Advance lets those go on whose instant has come.
func (l *Layer) Advance(now monotime.Time) {
	if len(l.timers) == 0 {
		return
	}
	keep := l.timers[:0]
	for _, b := range l.timers {
		if b.clock.due > now {
			keep = append(keep, b)
		} else {
			b.complete(b.clock.phase)
		}
	}
	l.timers = keep
}

package coord

import (
	"time"

	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// A clock belongs to an aligned barrier, whose members go on at the same instant (PROTOCOL
// §9.5.4; the aligned start of [Hayakawa98]). The first member, the master, makes all
// members wait until the farthest has heard of the release. The configuration tells the
// master how far the members are, as times of flight. If it does not, each member measures
// its distance, and the difference of the clocks, by pings, and the master names an instant
// of its own clock.
type clock struct {
	round    int           // questions asked
	offset   time.Duration // master's clock minus this one
	delay    time.Duration // one way
	spread   time.Duration // of the question that told so: half its round trip
	at       monotime.Time // when it told so
	ready    bool
	farthest time.Duration // master: the longest delay of the members that have arrived
	due      monotime.Time // when the program may go on
	phase    uint64
}

const (
	questions = 8                // before the first phase
	slack     = time.Microsecond // for the release to be sent
	drifts    = 10_000           // an answer becomes less exact by so much less than it ages: clocks are off by 50 ppm
)

// known reports whether this member can translate an instant of the master's clock.
func (c *clock) known(b *barrier) bool { return c.ready || b.me == 0 || b.o.Flight != nil }

// ping asks the master for the time.
func (b *barrier) ping(now monotime.Time) {
	if b.me == 0 || b.o.Flight != nil {
		return
	}
	b.clock.round++
	b.layer.send(b.member(0), wire.Clock{Kind: wire.EventPing, ID: b.o.ID, Sent: uint64(now)}.Event())
}

// pong answers.
func (l *Layer) pong(now monotime.Time, from int, v wire.Clock) {
	l.send(from, wire.Clock{Kind: wire.EventPong, ID: v.ID, Sent: v.Sent, Time: uint64(now)}.Event())
}

// onPong takes a measurement. The quickest answer is the most exact, until clocks may have drifted apart by more since
// then than another is worse.
func (b *barrier) onPong(now monotime.Time, v wire.Clock) {
	c := b.clock
	sent := monotime.Time(v.Sent)
	if c == nil || b.me == 0 || sent > now {
		b.layer.Stats.Dropped++
		return
	}
	half := now.Sub(sent) / 2
	if c.round == 1 || half <= c.spread+now.Sub(c.at)/drifts {
		c.spread = half
		c.at = now
		c.delay = half
		c.offset = monotime.Time(v.Time).Sub(sent.Add(half))
	}
	if c.round < questions {
		b.ping(now)
		return
	}
	if !c.ready {
		c.ready = true
		if b.arrived > b.done {
			b.input(now, 0, wire.Token{Phase: b.arrived})
		}
	}
}

// noteDelay notes the delay of a member that has arrived.
func (c *clock) noteDelay(gate int, v wire.Token) {
	if gate == 0 {
		c.farthest = max(c.farthest, min(time.Duration(v.Time), time.Second))
	}
}

// An instant says when the members go on: by the first member's clock, or so long after
// they hear of it.
type instant struct {
	time     uint64
	relative bool
}

// release sets the instant at which this member goes on. The master decides it; the other
// members translate the master's decision.
func (b *barrier) release(now monotime.Time, v wire.Token) instant {
	c := b.clock
	switch {
	case b.me != 0 && v.Relative:
		c.due = now.Add(time.Duration(v.Time))
	case b.me != 0:
		c.due = monotime.Time(v.Time).Add(-c.offset)
	case b.o.Flight != nil:
		var farthest time.Duration
		for _, d := range b.o.Flight {
			farthest = max(farthest, d)
		}
		c.due = now.Add(farthest)
		return instant{uint64(farthest), true}
	default:
		c.due = now.Add(2*c.farthest + time.Duration(b.size)*slack)
		c.farthest = 0
		return instant{time: uint64(c.due)}
	}
	return instant{}
}

// stamp completes the token that this member sends: with its delay on the way
// up, with the instant on the way down.
func (c *clock) stamp(b *barrier, t *wire.Token, i int, release instant) {
	if b.me != 0 {
		t.Time = uint64(c.delay)
		return
	}
	t.Relative = release.relative
	t.Time = release.time
	if release.relative { // how long the receiver waits after it has heard
		t.Time -= uint64(b.o.Flight[i+1])
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

// Advance completes the phases whose instant has come.
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

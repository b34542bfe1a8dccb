package coord

import (
	"cmp"
	"slices"
	"time"

	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// A clock belongs to an aligned barrier, whose members go on at the same instant (PROTOCOL
// §9.5.4; the aligned start of [Hayakawa98] §3.2.1). The first member, the master, makes all
// members wait until the farthest has heard of the release. Nobody tells the members how far
// they are: each measures its distance, and the difference of its clock from the master's, by
// pings. The master sends the releases to the farthest first, and names an instant of its own
// clock.
type clock struct {
	round  int           // questions asked
	offset time.Duration // master's clock minus this one
	delay  time.Duration // one way
	spread time.Duration // of the question that told so: half its round trip
	at     monotime.Time // when it told so
	late   time.Duration // by how much releases take longer than delay
	ready  bool
	due    monotime.Time // when the program may go on
	phase  uint64

	// Of the master.
	far   map[int]distance // by rank, as it said when it arrived
	order []int            // members, the farthest first
}

// A distance is how far a member is from the master. On the way up a token has it as one number: the delay, and the
// lateness in the upper half.
type distance struct{ delay, late time.Duration }

// farthest bounds both.
const farthest = time.Second

func (d distance) number() uint64 {
	return uint64(min(d.delay, farthest)) | uint64(min(d.late, farthest))<<32
}

func distanceOf(number uint64) distance {
	return distance{min(time.Duration(uint32(number)), farthest), min(time.Duration(number>>32), farthest)}
}

const (
	questions = 8                // before the first phase
	slot      = time.Microsecond // from one release of the master to the next
	drifts    = 10_000           // an answer becomes less exact by so much less than it ages: clocks are off by 50 ppm
	recent    = 16               // a release that comes early makes a member nearer by such a part of that
)

// known reports whether this member can translate an instant of the master's clock.
func (c *clock) known(b *barrier) bool { return c.ready || b.me == 0 }

// ping asks the master for the time.
func (b *barrier) ping(now monotime.Time) {
	if b.me == 0 {
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

// noteDelay notes the delay of a member that has arrived at the master.
func (c *clock) noteDelay(from int, v wire.Token) {
	if c.far == nil {
		c.far = map[int]distance{}
	}
	c.far[from] = distanceOf(v.Time)
}

// release sets the instant at which this member goes on. The master decides it; the other members translate the
// master's decision. By the paper's formula member s waits max(arrives(k)) − arrives(s), where the k-th release leaves
// k slots after the first and arrives(k) = k·slot + delay(k). Since all know the master's clock, that is one instant.
// Where releases wait for each other on their way, a slot is longer than it is here: late(k) makes up for that.
func (b *barrier) release(now monotime.Time, v wire.Token) (instant uint64) {
	c := b.clock
	if b.me != 0 {
		c.due = monotime.Time(v.Time).Add(-c.offset)
		c.adjust(now.Sub(c.due))
		return 0
	}
	c.order = c.order[:0]
	for i := 1; i < b.size; i++ {
		c.order = append(c.order, i)
	}
	slices.SortStableFunc(c.order, func(i, j int) int {
		return cmp.Compare(c.far[b.member(j)].delay, c.far[b.member(i)].delay)
	})
	var last time.Duration
	for k, i := range c.order {
		d := c.far[b.member(i)]
		last = max(last, time.Duration(k)*slot+d.delay+d.late)
	}
	c.due = now.Add(last)
	return uint64(c.due)
}

// adjust takes note of how much a release has come after its instant, or before it: then the member need not be taken
// for so far away.
func (c *clock) adjust(late time.Duration) {
	if late > 0 {
		c.late = min(c.late+late, farthest)
	} else {
		c.late -= min(c.late, -late) / recent
	}
}

// turn returns which of the sends of a gate is the k-th: the master releases the farthest member first.
func (b *barrier) turn(g *Gate, k int) int {
	if b.clock == nil || b.me != 0 || !g.Done {
		return k
	}
	return b.clock.order[k] - 1
}

// stamp completes the token that this member sends: with its distance on the way
// up, with the instant on the way down.
func (c *clock) stamp(b *barrier, t *wire.Token, release uint64) {
	t.Time = release
	if b.me != 0 {
		t.Time = distance{c.delay, c.late}.number()
	}
}

// postpone makes the phase end when it is time.
func (b *barrier) postpone(now monotime.Time, phase uint64) bool {
	c := b.clock
	b.ping(now) // clocks drift apart
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

package coord

import (
	"slices"
	"testing"
	"time"

	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// TestFarthestFirst: the master of an aligned barrier releases the farthest member first, and goes on itself when the
// last release has arrived, by the paper's formula. What a release has come late is added, and does not change the
// order.
func TestFarthestFirst(t *testing.T) {
	const us = time.Microsecond
	delays := []time.Duration{0, 3 * us, 9 * us, 6 * us, 9 * us}
	b := &barrier{o: &Object{Config: Config{Aligned: true}}, size: len(delays), clock: &clock{}}
	b.plan = star(len(delays), 0)
	for rank, d := range delays[1:] {
		b.clock.noteDelay(rank+1, wire.Token{Time: distance{delay: d}.number()})
	}
	now := monotime.Time(1000)
	at := b.release(now, wire.Token{})
	if want := now.Add(9*us + slot); at != uint64(want) { // two at 9 µs, the second of which leaves a slot later
		t.Errorf("all go on %v after the last arrival, not %v", monotime.Time(at).Sub(now), want.Sub(now))
	}
	var order []int
	g := &b.plan.Gates[0]
	for k := range g.Sends {
		order = append(order, g.Sends[b.turn(g, k)].To)
	}
	if !slices.Equal(order, []int{2, 4, 3, 1}) {
		t.Errorf("released in the order %v", order)
	}

	b.clock.noteDelay(3, wire.Token{Time: distance{6 * us, 20 * us}.number()})
	if at := b.release(now, wire.Token{}); at != uint64(now.Add(26*us+2*slot)) { // it is the third to be released
		t.Errorf("with a release that came late, all go on %v after the last arrival", monotime.Time(at).Sub(now))
	}

	member := &barrier{o: b.o, size: b.size, me: 1, clock: &clock{delay: 3 * us}}
	member.release(now.Add(5*us), wire.Token{Time: uint64(now)})
	var up wire.Token
	member.clock.stamp(member, &up, 0)
	if d := distanceOf(up.Time); d != (distance{3 * us, 5 * us}) {
		t.Errorf("5 us late, a member says %v", d)
	}
	for range 200 {
		member.release(now, wire.Token{Time: uint64(now.Add(us))})
	}
	if member.clock.stamp(member, &up, 0); distanceOf(up.Time).late > 100 {
		t.Errorf("in time again, a member says %v", distanceOf(up.Time))
	}
}

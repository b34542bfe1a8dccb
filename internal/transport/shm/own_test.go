package shm

import (
	"testing"

	"weft/internal/transport"
	"weft/internal/waittest"
)

// openFor opens rank 0, and other ranks that dial it; own is what each is told.
func openFor(t *testing.T, senders int, own func(rank int) func(peer int) bool) (*Transport, []*Transport) {
	t.Helper()
	open := func(rank int) *Transport {
		s, err := Open(Config{Rank: rank, Size: senders + 1, Job: 1, Secret: make([]byte, 32), Own: own(rank)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	to := open(0)
	var from []*Transport
	for i := range senders {
		s := open(i + 1)
		if err := s.Dial(0, to.Card()); err != nil {
			t.Fatal(err)
		}
		from = append(from, s)
	}
	return to, from
}

// send sends packets to rank 0, which takes them.
func send(t *testing.T, from, to *Transport, packets int) {
	t.Helper()
	var in [8]transport.In
	for i := range packets {
		if from.Send([]transport.Out{{Peer: 0, Header: []byte{byte(i)}}}) != 1 {
			t.Fatal("there is no room")
		}
		waittest.Until(t, "the packet arrives", func() bool { return to.Poll(in[:]) == 1 })
		if in[0].From != from.cfg.Rank || in[0].Data[0] != byte(i) {
			t.Fatalf("%d from %d, not %d from %d", in[0].Data[0], in[0].From, i, from.cfg.Rank)
		}
		to.Release()
	}
}

// owners returns the ranks that have a ring of their own at a process.
func owners(to *Transport) map[int]bool {
	have := map[int]bool{}
	for i := range rings {
		if owner := to.seg.owner(i).Load(); owner != 0 {
			have[int(owner)-1] = true
		}
	}
	return have
}

// A sender that is told to has a ring of its own from its first packet on; a sender that
// is told not to has none after any number of packets.
func TestOwnRingsAsTold(t *testing.T) {
	to, from := openFor(t, 2, func(rank int) func(int) bool { return func(int) bool { return rank == 1 } })
	send(t, from[0], to, 1)
	if p := from[0].Lane(0).(*peer); p.own == nil || p.sent != 0 {
		t.Error("the first packet went to the inbox")
	}
	send(t, from[1], to, 200)
	if have := owners(to); len(have) != 1 || !have[1] {
		t.Errorf("rings of %v", have)
	}
}

// If senders are told nothing, a frequent one gets a ring of its own.
func TestOwnRingsByFrequency(t *testing.T) {
	to, from := openFor(t, 2, func(int) func(int) bool { return nil })
	send(t, from[0], to, 31)
	send(t, from[1], to, 33)
	if have := owners(to); len(have) != 1 || !have[2] {
		t.Errorf("rings of %v", have)
	}
}

// When there are no more rings, the inbox is there, and a ring is not looked for
// with every packet.
func TestMoreOwnersThanRings(t *testing.T) {
	to, from := openFor(t, rings+1, func(int) func(int) bool { return func(int) bool { return true } })
	for _, s := range from {
		send(t, s, to, 3)
	}
	last := from[rings].Lane(0).(*peer)
	if have := owners(to); len(have) != rings || have[rings+1] || last.sent != 3 || last.tried != 0 || last.after != 32 {
		t.Errorf("rings of %v; %d packets in the inbox, %d when it was tried last", have, last.sent, last.tried)
	}
}

// Peers see whether a process polls.
func TestAttends(t *testing.T) {
	to, from := openFor(t, 1, func(int) func(int) bool { return nil })
	if from[0].Attends(0) || from[0].Attends(9) {
		t.Error("a process that has not said so polls, or one that is not there")
	}
	for _, polls := range []bool{true, false} {
		if to.Attend(polls); from[0].Attends(0) != polls {
			t.Errorf("Attend(%v) cannot be seen", polls)
		}
	}
}

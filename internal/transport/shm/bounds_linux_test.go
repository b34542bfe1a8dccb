package shm

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"weft/internal/sys"
	"weft/internal/transport"
	"weft/internal/waittest"
)

// connected returns two ranks that know each other, and the second one as the first knows it.
func connected(t *testing.T) (a, b *Transport, p *peer) {
	t.Helper()
	a, b, _ = openPair(t)
	if err := a.Dial(1, b.Card()); err != nil {
		t.Fatal(err)
	}
	return a, b, a.peers[1]
}

// A peer whose process is stopped counts as dead after few looks, and not before.
func TestStoppedIsSilent(t *testing.T) {
	a, _, p := connected(t)
	p.pid = 1 << 30                          // there is no such process: it counts as stopped
	for look := 0; look <= silence; look++ { // the first sees a heartbeat that it has not seen yet, or none
		p.beat = p.seg.beat().Load()
		if silent := len(a.silentPeers()); (silent == 1) != (look >= silence-1) {
			t.Errorf("look %d: %d are silent", look, silent)
		}
	}
}

// A rank with a liveness time counts its heartbeat up, and one without does not.
func TestBeats(t *testing.T) {
	for _, liveness := range []time.Duration{0, time.Millisecond} {
		s, err := Open(Config{Size: 2, Job: 1, Secret: make([]byte, 32), Liveness: liveness})
		if err != nil {
			t.Fatal(err)
		}
		if liveness > 0 {
			waittest.Until(t, "the heartbeat", func() bool { return s.seg.beat().Load() > 2 })
		}
		s.mu.Lock()
		if beat := s.seg.beat().Load(); liveness == 0 && beat != 0 {
			t.Errorf("%d beats", beat)
		}
		s.mu.Unlock()
		s.Close()
	}
}

// What is no card is not dialled.
func TestNoCard(t *testing.T) {
	a, b, _ := openPair(t)
	for _, card := range []string{"", "weft", "other-" + b.Card(), b.Card() + strings.Repeat("x", 65-len(b.Card()))} {
		if err := a.Dial(1, card); err == nil || !strings.Contains(err.Error(), "is no card") {
			t.Errorf("%q: %v", card, err)
		}
	}
	if err := a.Dial(1, "weft-"+strings.Repeat("x", 59)); err == nil || strings.Contains(err.Error(), "is no card") {
		t.Errorf("a card of the longest length: %v", err)
	}
}

// A descriptor is closed, and no descriptor is not.
func TestCloseFD(t *testing.T) {
	fd, mem, err := sys.NewMemory("test", page, false)
	if err != nil {
		t.Fatal(err)
	}
	defer sys.Unmap(mem)
	closeFD(-1)
	if closeFD(fd); !errors.Is(unix.Fchdir(fd), unix.EBADF) {
		t.Error("it is open")
	}
}

// A rank maps so many pieces of a peer's memory, and no more; a piece for which nobody waits is not mapped.
func TestMapsAsMuchAsOneMay(t *testing.T) {
	a, _, p := connected(t)
	give := func(id uint32) error {
		fd, mem, err := sys.NewMemory("test", page, false)
		if err != nil {
			t.Fatal(err)
		}
		defer sys.Unmap(mem)
		r := &request{view{id, false}, make(chan answer, 1)}
		p.request = r
		a.take(p, record{kind: have, id: id + 1, fd: -1}) // the answer to another question
		a.take(p, record{kind: have, id: id, fd: fd})
		if p.request != nil {
			t.Error("it still waits")
		}
		return (<-r.got).err
	}
	for i := range maxAreas - 1 {
		p.mapped[view{uint32(1<<24 + i), false}] = nil
	}
	last := give(1)
	beyond := give(2)
	for i := range maxAreas - 1 {
		delete(p.mapped, view{uint32(1<<24 + i), false})
	}
	if last != nil || !errors.Is(beyond, errTooMany) {
		t.Errorf("%d pieces: %v; one more: %v", maxAreas, last, beyond)
	}
	if n := a.Mapped(); n != page {
		t.Errorf("%d bytes are mapped", n)
	}
	if a.forget(p, 1); a.Mapped() != 0 {
		t.Errorf("%d bytes are mapped when it has been taken back", a.Mapped())
	}
}

// Of a peer that has ended nothing is asked.
func TestEndedIsNotAsked(t *testing.T) {
	a, _, p := connected(t)
	p.exited.Store(true)
	if _, err := a.Map(1, 1, 1, false); !errors.Is(err, errGone) {
		t.Errorf("%v", err)
	}
	if _, err := a.Map(5, 1, 1, false); !errors.Is(err, transport.ErrUnknownPeer) {
		t.Errorf("%v", err)
	}
}

// Mappings that are retired are collected now and then: a process may have only so many.
func TestRetiredAreCollected(t *testing.T) {
	before := retired.Swap(collectAfter - 1)
	defer retired.Store(before)
	var was, is runtime.MemStats
	runtime.ReadMemStats(&was)
	retire(transport.NewMapping(make([]byte, 0), false, nil))
	waittest.Until(t, "a collection", func() bool {
		runtime.ReadMemStats(&is)
		return is.NumGC > was.NumGC
	})
}

// Rank 0 is looked at by its number as any other. A look that finds nothing tells whether there may be something
// where it has not looked: in the inbox, or in a ring that was claimed meanwhile.
func TestPeekTellsWhatItHasNotSeen(t *testing.T) {
	open := func(rank int) *Transport {
		own := func(int) bool { return rank != 2 }
		s, err := Open(Config{Rank: rank, Size: 4, Job: 1, Secret: make([]byte, 32), Own: own})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	to := open(1)
	zero := open(0)
	inbox := open(2)
	three := open(3)
	var in [8]transport.In
	gives := func(s *Transport) {
		t.Helper()
		if s.Send([]transport.Out{{Peer: 1, Header: []byte{byte(s.cfg.Rank)}}}) != 1 {
			t.Fatal("there is no room")
		}
	}
	peeks := func(what string, peer int, maybe bool) {
		t.Helper()
		if from, pkt, got := to.Peek(peer); pkt != nil || got != maybe {
			t.Errorf("%s: %v of %d, and maybe more: %t", what, pkt, from, got)
		}
	}
	takes := func(n int) {
		t.Helper()
		waittest.Until(t, "a packet", func() bool {
			n -= to.Poll(in[:])
			to.Release()
			return n == 0
		})
	}
	for _, s := range []*Transport{zero, inbox, three} {
		if err := s.Dial(1, to.Card()); err != nil {
			t.Fatal(err)
		}
	}
	peeks("nothing has come", -1, false)
	peeks("rank 0 has no ring", 0, true)
	gives(zero)
	peeks("a ring has been claimed", -1, true)
	takes(1)
	peeks("the ring is empty", -1, false)
	peeks("rank 0's ring is empty", 0, false)
	gives(inbox)
	peeks("the inbox has a packet", -1, true)
	gives(three)
	takes(2)
	gives(zero)
	gives(three)
	for _, want := range []int{0, 0, 3, 3, 0} { // the look begins behind the ring of the one before
		if from, pkt, _ := to.Peek(want); from != want || len(pkt) != 1 || int(pkt[0]) != want {
			t.Errorf("rank %d: %v of %d", want, pkt, from)
		}
	}
	takes(2)
}

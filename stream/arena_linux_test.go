package stream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/bits"
	"os"
	"strconv"
	"sync/atomic"
	"testing"

	"weft/internal/sys"
	"weft/internal/waittest"
)

// arenasMapped returns how many mappings of arenas this process has, as the kernel says.
func arenasMapped(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(text, []byte("memfd:weft stream"))
}

// descriptors returns how many of this process are open.
func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// movedPairs makes n connections that are in memory.
func movedPairs(t *testing.T, l *Listener, n int) (dialled, accepted []*Conn) {
	t.Helper()
	for range n {
		d, a := connect(t, l, func() (*Conn, error) { return dialConn(t, new(Config), l.Addr().String()), nil })
		move(t, d, a)
		dialled = append(dialled, d)
		accepted = append(accepted, a)
	}
	return dialled, accepted
}

// TestFewMappingsForMany: the mappings of a process grow with the logarithm of its connections with another one. What a
// connection has left, in any order, is used again, and its memory is given back at once.
func TestFewMappingsForMany(t *testing.T) {
	n := *connections / 5
	few := 2 * (single + bits.Len(uint(n)) - 1 + n/4000) // arenas of 4, 8, 16 … slots, up to 2 GiB; both ends are here
	l := listenAt(t, new(Config))
	before := descriptors(t)
	dialled, accepted := movedPairs(t, l, n)
	t.Logf("%d connections: %d mappings", n, arenasMapped(t))
	if got := arenasMapped(t); got > few || got != int(mapped.Load()) {
		t.Errorf("%d connections have %d mappings, %d are known", n, got, mapped.Load())
	}
	if got := descriptors(t) - before; got > 2*n+few {
		t.Errorf("%d descriptors", got)
	}
	full := status(t, "RssShmem")
	for round := range 3 {
		for i := round % 2; i < n; i += 2 {
			first := dialled[i]
			second := accepted[i]
			if i%4 < 2 {
				first, second = second, first
			}
			first.Close()
			second.Close()
		}
		if left := status(t, "RssShmem"); round == 0 && left > full*6/10 {
			t.Errorf("half of the connections have %d KiB, all had %d", left, full)
		}
		fresh, served := movedPairs(t, l, n/2)
		for i := range fresh {
			dialled[2*i+round%2] = fresh[i]
			accepted[2*i+round%2] = served[i]
		}
		if got := arenasMapped(t); got > few {
			t.Errorf("round %d: %d mappings", round, got)
		}
	}
	for i := range n { // each has a slot of its own
		text := strconv.Itoa(i)
		dialled[i].Write([]byte(text))
		b := make([]byte, len(text))
		if _, err := io.ReadFull(accepted[i], b); err != nil || string(b) != text {
			t.Fatalf("connection %d: %q, %v", i, b, err)
		}
	}
	for i := range n {
		dialled[i].Close()
		accepted[i].Close()
	}
	if got := arenasMapped(t); got != 0 || mapped.Load() != 0 || len(lent.arenas) != 0 || len(borrowed.arenas) != 0 {
		t.Errorf("%d mappings are left, %d known", got, mapped.Load())
	}
	l.Close()
	waittest.Until(t, "all descriptors are closed", func() bool { return descriptors(t) <= before })
}

// TestArenasOfMany: how many arenas connections need with one process, whatever their rings have.
func TestArenasOfMany(t *testing.T) {
	for _, want := range []struct{ connections, buffer, arenas int }{
		{1000, defaultBuffer, 12}, {60000, defaultBuffer, 33}, {60000, MinBuffer, 18}, {1000, MaxBuffer, 96},
	} {
		arenas := 0
		for users := 0; users < want.connections; arenas++ {
			y := debtor{process: 1, buffer: want.buffer}.layout(users)
			if !y.sound() {
				t.Fatalf("%+v", y)
			}
			users += y.slots
		}
		if arenas != want.arenas {
			t.Errorf("%+v: it needs %d arenas", want, arenas)
		}
	}
}

// childOfArenas dials connections that move, and then waits to be killed.
func childOfArenas(address string, args []string) error {
	n, _ := strconv.Atoi(args[0])
	for range n {
		c, err := Dial(context.Background(), address)
		if err != nil {
			return err
		}
		b := []byte{1}
		for i := 0; i < 4*enough/callWork && c.(*Conn).in == nil; i++ {
			if _, err := c.Write(b); err != nil {
				return err
			}
			if _, err := io.ReadFull(c, b); err != nil {
				return err
			}
		}
		if i := c.(*Conn).in; i == nil {
			return errors.New("it has not moved")
		}
	}
	say("moved")
	untilEnd()
	return nil
}

// TestArenasOfTwo: two processes never have memory in common, and a process that is killed, or that has been stopped
// with memory in its hands, takes nothing with it: its arenas are given back, and another process has never had them.
func TestArenasOfTwo(t *testing.T) {
	l := listenAt(t, new(Config))
	const n = 12
	var children []*child
	served := map[int][]*Conn{}
	for range 2 {
		c := start(t, "arenas", l.Addr().String(), strconv.Itoa(n))
		children = append(children, c)
		for range n {
			a, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			conn := a.(*Conn)
			conn.early.within = 1 << 40
			served[c.Process.Pid] = append(served[c.Process.Pid], conn)
			go io.Copy(struct{ io.Writer }{conn}, struct{ io.Reader }{conn})
		}
		c.expect(t, "moved")
	}
	owner := map[*arena]int{}
	programs := map[uint64]bool{}
	for pid, conns := range served {
		for _, c := range conns {
			c.mu.Lock()
			a := c.slot.arena
			c.mu.Unlock()
			if a.debtor.image == 0 || a.debtor.peer.PID != pid || a.debtor.process == 0 {
				t.Fatalf("%+v is lent to nobody", a.debtor)
			}
			programs[a.debtor.image] = true
			if had, ok := owner[a]; ok && had != pid {
				t.Fatalf("a connection of process %d lies in an arena of %d", pid, had)
			}
			owner[a] = pid
		}
	}
	if len(programs) != 2 {
		t.Errorf("%d programs", len(programs))
	}
	if len(owner) != 2*(single+2) { // four of one slot, one of 4, one of 8
		t.Errorf("%d arenas", len(owner))
	}
	children[0].stop(t)
	children[0].Process.Kill()
	for _, c := range served[children[0].Process.Pid] {
		if err := c.SetDeadline(waittest.End()); err != nil {
			t.Fatal(err)
		}
		for { // after its echo has ended
			if _, err := c.Read(make([]byte, 1)); err != nil {
				break
			}
		}
		c.Close()
	}
	waittest.Until(t, "the arenas of the dead are gone", func() bool { return mapped.Load() == single+2 })
	for _, c := range served[children[1].Process.Pid] {
		c.Close()
	}
	waittest.Until(t, "all are gone", func() bool { return mapped.Load() == 0 && arenasMapped(t) == 0 })
}

// TestLateBorrower: a dialler that takes an offer after its listener has closed the connection, and has lent the slot
// to another one, gets nothing.
func TestLateBorrower(t *testing.T) {
	d := debtor{process: 1, image: 2, buffer: MinBuffer}
	var slots []slot
	for range 2*single + 2 {
		s, _, _, err := lent.lend(d)
		if err != nil {
			t.Fatal(err)
		}
		lent.passed(s.arena)
		slots = append(slots, s)
	}
	defer func() {
		for _, s := range slots {
			s.leave()
		}
	}()
	last := slots[len(slots)-1]
	if last.arena.slots < 2 {
		t.Fatalf("an arena of %d slots", last.arena.slots)
	}
	offered := place{last.arena.layout, last.n, last.arena.turns[last.n]}
	last.leave()
	if _, err := borrowed.take(sys.DupFD(last.arena.fd), -1, offered); err != errNoPlace {
		t.Errorf("of a slot that its lender has left: %v", err)
	}
	again, turn, _, err := lent.lend(d)
	if err != nil || again.arena != last.arena || again.n != last.n {
		t.Fatalf("%+v: %v", again, err)
	}
	slots[len(slots)-1] = again
	if _, err := borrowed.take(sys.DupFD(again.arena.fd), -1, offered); err != errNoPlace {
		t.Errorf("of a slot that has been lent anew: %v", err)
	}
	if mapped.Load() != int64(single+2) {
		t.Errorf("%d arenas are mapped", mapped.Load())
	}
	mine, err := borrowed.take(sys.DupFD(again.arena.fd), -1, place{again.arena.layout, again.n, turn})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := borrowed.take(sys.DupFD(again.arena.fd), -1, place{layout{1, MinBuffer}, 0, 1}); err != ErrCorrupt {
		t.Errorf("of an arena that is cut in another way: %v", err)
	}
	mine.leave()
}

// TestDebtors: another program, user, process or size of rings never shares an arena, and a process that the kernel
// cannot tell from others shares none.
func TestDebtors(t *testing.T) {
	base := debtor{process: 1, image: 2, peer: Peer{PID: 3, UID: 4}, buffer: MinBuffer}
	debtors := []debtor{base, base, base, base, base, base}
	debtors[1].process = 9
	debtors[2].image = 9
	debtors[3].peer.UID = 9
	debtors[4].buffer = 2 * MinBuffer
	debtors[5].process = 0
	owner := map[*arena]int{}
	var slots []slot
	for range 20 {
		for i, d := range debtors {
			s, _, _, err := lent.lend(d)
			if err != nil {
				t.Fatal(err)
			}
			if had, ok := owner[s.arena]; ok && (had != i || d.process == 0) {
				t.Errorf("debtors %d and %d share an arena", had, i)
			}
			owner[s.arena] = i
			slots = append(slots, s)
		}
	}
	for _, s := range slots {
		s.leave()
	}
	if mapped.Load() != 0 || len(lent.arenas) != 0 {
		t.Errorf("%d arenas are left", mapped.Load())
	}
}

// TestSlotStates searches all interleavings of a lender that lends a slot twice and the two borrowers: memory is given
// back to the kernel while nobody uses it, and a slot is free when both have left it, and not before.
func TestSlotStates(t *testing.T) {
	runs := 0
	var search func(schedule []int)
	search = func(schedule []int) {
		choices := playSlot(t, schedule)
		if len(choices) == 0 {
			runs++
			return
		}
		for _, c := range choices {
			search(append(schedule[:len(schedule):len(schedule)], c))
		}
	}
	search(nil)
	if runs < 30 {
		t.Errorf("%d interleavings", runs)
	}
}

// playSlot lets the lender (0) and two borrowers (1, 2) make steps in the order of a schedule, and returns which of
// them could make the next one.
func playSlot(t *testing.T, schedule []int) (next []int) {
	var state uint32
	var uses [3]bool
	var at [3]int
	turn := uint32(0)
	discard := func(i int) {
		for k, u := range uses {
			if u && k != i {
				t.Fatalf("%v: end %d discards what %d uses", schedule, i, k)
			}
		}
	}
	lend := func() bool {
		if atomic.LoadUint32(&state) != 0 {
			return false
		}
		turn++
		atomic.StoreUint32(&state, turn<<turnShift|lender)
		uses[0] = true
		return true
	}
	for _, i := range schedule {
		side := uint32(borrower)
		if i == 0 {
			side = lender
		}
		switch at[i] {
		case 0, 3: // the lender's second time is 3
			ok := false
			if i == 0 {
				ok = lend()
			} else if ok = claim(&state, uint32(i)); ok {
				uses[i] = true
			}
			if !ok && i > 0 {
				at[i] = 9
				continue
			}
			if !ok {
				continue // it looks again
			}
			at[i]++
		case 1, 4:
			uses[i] = false
			if at[i]++; !depart(&state, side) {
				at[i]++
			}
		case 2, 5:
			discard(i)
			atomic.StoreUint32(&state, 0)
			at[i]++
		}
	}
	for i := range at {
		stuck := i == 0 && at[0] == 3 && atomic.LoadUint32(&state) != 0
		offered := i == 0 || turn >= uint32(i)
		if offered && !stuck && at[i] < 9 && !(i > 0 && at[i] == 3) && at[0] <= 6 && !(i == 0 && at[0] == 6) {
			next = append(next, i)
		}
	}
	if len(next) == 0 && state != 0 && at[0] == 6 {
		t.Fatalf("%v: the slot is lost: %x", schedule, state)
	}
	return next
}

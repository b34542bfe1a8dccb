package mpi

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"weft"
	"weft/extend"
	"weft/internal/match"
	"weft/internal/mem"
)

// A board is memory in which the members of a communicator, all on one host, carry out collective operations. An
// operation consists of turns, which each member counts for itself. In a turn a member writes its elements, if others
// need them, says so by the number of the turn, and reads those of the members that it needs once these have come to
// the same turn. It waits for no other member: so the root of a Broadcast may be some turns ahead of the others.
//
// A member has a ring of slots, which its turns take in order: the number of the turn, where the elements are, the
// header of the operation, and few elements. More elements are in one of two rows. A member that writes where it has
// written before first waits until all others have begun a later turn, so they have read that.
//
// By the headers members see that their calls do not belong together. A member compares those of all turns of each
// other member, in order, also of turns in which it needed nothing: at the latest when its own slot has another turn.
//
// Nothing here waits: see board_queue.go.
type board struct {
	c      *Comm
	region *weft.Region // at member 0: the memory
	remote *weft.Remote // keeps the memory mapped
	memory []byte
	bell   *extend.Bell

	mu    sync.Mutex // held while a goroutine carries operations on, never while it waits
	turn  uint64     // of this member, the last
	seen  []uint64   // by member: up to which turn its headers have been compared
	least uint64     // all of seen are at least so
	rows  [2]uint64  // the last turns of this member that have used a row
	row   int        // that has been used last
	queue queue
	far   bool   // every member can read the memory of every other one
	proof []byte // that they read to find that out
	apart bool   // the processors of two members share no cache
}

// The memory of a board: a bell, a word of each member that says whether an operation of it has failed, and the
// members' slots and rows. A slot is
//
//	offset  field
//	0       number of the turn, 8 bytes: written last
//	8       place of the elements: 0 in the slot, 1 or 2 in a row; and 1<<8 if the turn is not the member's last one,
//	        1<<9 if it has shown where they are, though other members may have not
//	16      header of the operation without the communicator, 24 bytes
//	40      elements; or where they are: process, shared memory or 0, 4 bytes each; address, offset in the shared memory
const (
	slotsOnBoard  = 16 // of a member
	aheadOnBoard  = slotsOnBoard / 2
	slotOnBoard   = 1088
	atPlace       = 8
	atElements    = atPlace + headSize
	roomInSlot    = slotOnBoard - atElements
	roomOnBoard   = 128 << 10 // bytes for elements in a row
	memberOnBoard = slotsOnBoard*slotOnBoard + 2*roomOnBoard
	atFailed      = 128
	atMembers     = atFailed + 8*mostOnBoard

	moreOnBoard  = 1 << 8
	shownOnBoard = 1 << 9

	mostOnBoard = 64 // members
	boardAfter  = 2  // the operation of a communicator that makes its board
)

// slot returns the slot of a turn of a member.
func (s *board) slot(member int, turn uint64) []byte {
	at := atMembers + member*memberOnBoard + int(turn%slotsOnBoard)*slotOnBoard
	return s.memory[at : at+slotOnBoard]
}

// place returns where a slot says that the elements are, of a member.
func (s *board) place(member int, slot []byte, place uint64) []byte {
	if place &= 3; place == 0 {
		return slot[atElements:]
	}
	at := atMembers + member*memberOnBoard + slotsOnBoard*slotOnBoard + int(place-1)&1*roomOnBoard
	return s.memory[at : at+roomOnBoard]
}

// on returns the elements of a member in the turn that this member has begun last, and whether more follow.
func (k *call) on(member int) (elements []byte, more bool) {
	s := k.c.board
	slot := s.slot(member, s.turn)
	place := binary.LittleEndian.Uint64(slot[atPlace:])
	return s.place(member, slot, place), place&moreOnBoard != 0
}

// take begins a turn of an operation, in which this member writes up to some bytes, and returns where. It reports false
// if another member may still read what is there.
func (s *board) take(k *call, n int) (mine []byte, ok bool, err error) {
	free := uint64(0) // the turn that all others must have begun
	if s.turn+2 > aheadOnBoard {
		free = s.turn + 2 - aheadOnBoard
	}
	place := 0
	if n > roomInSlot {
		place = 2 - s.row // the other one
		if used := s.rows[place-1]; used > 0 {
			free = max(free, used+1)
		}
	}
	if s.least < free {
		if ok, err = s.reach(0, k.c.group.n, free); !ok {
			return nil, ok, err
		}
		s.least = free
	}
	s.turn++
	slot := s.slot(k.c.me, s.turn)
	k.head.put(slot[atPlace:])
	binary.LittleEndian.PutUint64(slot[atPlace:], uint64(place))
	if place > 0 {
		s.row = place - 1
		s.rows[s.row] = s.turn
	}
	return s.place(k.c.me, slot, uint64(place)), true, nil
}

// again begins a turn whose elements are where those of the turn before are.
func (s *board) again(k *call) {
	slot := s.slot(k.c.me, s.turn)
	s.turn++
	copy(s.slot(k.c.me, s.turn)[atPlace:], slot[atPlace:atElements])
	if k.far {
		s.point(s.turn, k.src.flat.b)
	} else {
		s.rows[s.row] = s.turn
	}
}

// more says that this turn of a member is not its last one.
func (s *board) more(k *call) { s.slot(k.c.me, s.turn)[atPlace+1] |= moreOnBoard >> 8 }

// tell says that this member has written what the others need of its turn.
func (s *board) tell(k *call) {
	mem.Publish64(s.slot(k.c.me, s.turn), 0, s.turn)
	s.bell.Ring()
}

// own makes the memory this processor's that a turn will need in which this member writes as many bytes as in the last
// one. It is not for slots, at which the others look soon.
func (s *board) own(n int) {
	if n > roomInSlot {
		mem.Own(s.place(s.c.me, nil, uint64(2-s.row))[:min(n, roomOnBoard)])
	}
}

// reach reports whether some members have come to a turn. If one has not, the goroutines that carry operations out wait
// for that one. The error says that the calls of a member do not belong to those of this one.
func (s *board) reach(first, last int, turn uint64) (bool, error) {
	for i := first; i < last; i++ {
		for s.seen[i] < turn {
			next := s.seen[i] + 1
			theirs := s.slot(i, next)
			if mem.Load64(theirs, 0) < next {
				s.queue.awaits = awaited{i, turn}
				return false, nil
			}
			mine := s.slot(s.c.me, next)
			if !bytes.Equal(theirs[atPlace+8:atElements], mine[atPlace+8:atElements]) {
				if err := s.compare(i, mine, theirs); err != nil {
					return false, err
				}
			}
			s.seen[i] = next
		}
	}
	return true, nil
}

// compareAll returns an error unless all members have called on the board what this one has. No member is in a turn.
func (s *board) compareAll() error {
	s.mu.Lock()
	ok, err := s.reach(0, s.c.group.n, s.turn)
	if !ok && err == nil { // one has had fewer turns
		member := s.queue.awaits.member
		mine, _, _ := parseHeader(s.slot(s.c.me, s.turn)[atPlace:atElements])
		err = &MismatchError{Rank: s.c.group.at(member), Mine: publicCall(&mine)}
	}
	s.mu.Unlock()
	s.spoil(err)
	return err
}

// compare returns an error if what a member and this one have called in a turn does not belong together.
func (s *board) compare(member int, mine, theirs []byte) error {
	m, _, _ := parseHeader(mine[atPlace:atElements])
	t, _, ok := parseHeader(theirs[atPlace:atElements])
	if !ok {
		return nil // the memory is gone, and soon the member
	}
	if m.tag != t.tag {
		return &MismatchError{Rank: s.c.group.at(member), Mine: publicCall(&m), Theirs: publicCall(&t)}
	}
	if m.length == vary && t.length == vary { // each part says what it consists of
		t.kind = m.kind
		t.size = m.size
	}
	return m.differs(s.c.group.at(member), &t)
}

// onBoard reports whether an operation can be carried out on the board.
func onBoard(k *call) bool {
	return k.how != byMessages && k.c.board != nil && (k.varied || k.src.each == nil) &&
		int(k.head.size) <= roomOnBoard/k.c.group.n
}

// prepareBoard makes the board when it is time. All members come there in the same operation.
func (k *call) prepareBoard() error {
	c := k.c
	n := c.group.n
	if k.how != called || k.op == OpSplit || c.plain >= boardAfter || !c.w.oneHost || n == 1 || n > mostOnBoard {
		return nil
	}
	if c.plain++; c.plain < boardAfter {
		return nil
	}
	return k.makeBoard()
}

// makeBoard makes the board if all members can reach it.
func (k *call) makeBoard() error {
	c := k.c
	p := c.w.p
	s := &board{c: c, seen: make([]uint64, c.group.n)}
	s.queue.minder.prompt = true
	s.queue.minder.waiter.ready = s.queue.minder.waiter.met
	name := fmt.Sprintf("mpi/board/%d", c.id)
	var failed error
	if c.me == 0 {
		s.region, failed = p.OpenRegion(k.bound, name, atMembers+c.group.n*memberOnBoard, nil)
	}
	ok, err := k.all(failed == nil)
	if ok && err == nil {
		if s.remote, failed = p.AttachRegion(k.bound, c.group.at(0), name); failed == nil {
			s.memory = s.remote.Bytes()
		}
		if s.memory != nil {
			s.offer()
		}
		ok, err = k.all(s.memory != nil)
	}
	if ok && err == nil {
		s.far, err = k.all(s.readable())
	}
	if !ok || err != nil {
		return errors.Join(err, s.close())
	}
	s.bell = extend.NewBell(p, s.memory, c.group.n)
	near, err := k.all(s.near())
	if err != nil {
		return errors.Join(err, s.close())
	}
	s.apart = !near
	c.w.mu.Lock()
	c.board = s
	c.w.mu.Unlock()
	return nil
}

// all reports, at all members, whether all of them say yes.
func (k *call) all(yes bool) (bool, error) {
	no := []int64{0}
	if !yes {
		no[0] = 1
	}
	sum := call{params: params{src: parts{all: Of(no)}, combine: typed[int64](Sum[int64])}, c: k.c, head: k.head}
	err := sum.allReduceDoubling(k.bound)
	return no[0] == 0, err
}

// close gives the board back.
func (s *board) close() error {
	if s.bell != nil {
		s.bell.Close()
	}
	if s.region != nil {
		return s.region.Close()
	}
	return nil
}

// unmet returns why members could not meet: if the communicator is over, why that is so.
func (c *Comm) unmet(err error) error {
	if left(err) {
		c.w.catchUp()
	}
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	if c.revoked != nil {
		return c.reason()
	}
	return err
}

// drive has a goroutine take messages until end is called: members that wait at the board take none, nor do those that
// wait for a long message to be received, and receives that have been started are to go on.
func (w *world) drive() (end context.CancelFunc) {
	ctx, end := context.WithCancel(context.Background())
	w.p.Go(func() {
		w.mu.Lock()
		defer w.unlock()
		d := w.get(w.all, 0, 0, match.Exact) // matches nothing: it is not posted
		_ = w.wait(ctx, d)
		w.put(d)
	})
	return end
}

// seek asks the other members of a board what they have called, if an operation on it takes long. Weft ps shows what
// they have answered. The lock is held.
func (w *world) seek(k *call) {
	if k.looks++; k.looks < 2 || k.looks&(k.looks-1) != 0 {
		return
	}
	for i := range k.c.group.n {
		if i == k.c.me {
			continue
		}
		at := slices.IndexFunc(w.sought, func(r *receive) bool { return r.want == k && r.source == i })
		if at < 0 {
			at = len(w.sought)
			w.sought = append(w.sought, w.get(k.c, i, k.head.key(), match.Exact))
			w.sought[at].want = k
		}
		w.ask(w.sought[at])
	}
}

// found ends what seek has begun. The lock is held.
func (w *world) found(k *call) {
	for i := len(w.sought) - 1; i >= 0; i-- {
		if r := w.sought[i]; r.want == k {
			w.sought = slices.Delete(w.sought, i, i+1)
			w.put(r)
		}
	}
}

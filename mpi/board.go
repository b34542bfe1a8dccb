package mpi

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"weft"
	"weft/internal/match"
)

// A board is memory in which the members of a communicator, all on one host, carry out collective operations: each
// writes its elements into a place of its own, all meet in a barrier, and then each reads those of the others. An
// operation on more elements than a place has room for takes several turns.
//
// There are two rows of places, which turns take in turn. So a member may write for the next turn while others still
// read. When it writes again into the same row, it has met all others once more, so they are through.
//
// A place begins with the header of the operation, by which members see that their calls do not belong together.
type board struct {
	region  *weft.Region // at member 0: the memory
	remote  *weft.Remote // keeps the memory mapped
	memory  []byte
	barrier *weft.Barrier
	turn    int // that this member takes next
}

const (
	roomOnBoard  = 128 << 10 // bytes for elements in a place
	placeOnBoard = 64 + roomOnBoard
	mostOnBoard  = 64 // members
	boardAfter   = 2  // the operation of a communicator that makes its board
)

// place returns the place of a member in the row of the last turn.
func (s *board) place(member, members int) []byte {
	at := ((s.turn-1)&1*members + member) * placeOnBoard
	return s.memory[at : at+placeOnBoard]
}

// board makes the board when it is time. All members come there in the same operation.
func (k *call) board() error {
	c := k.c
	n := c.group.n
	if k.begun || k.op == OpSplit || c.plain >= boardAfter || !c.w.oneHost || n == 1 || n > mostOnBoard {
		return nil
	}
	if c.plain++; c.plain < boardAfter {
		return nil
	}
	return k.makeBoard()
}

// onBoard reports whether an operation can be carried out on the board.
func onBoard(k *call) bool {
	return !k.begun && k.c.board != nil && !k.varied && k.src.each == nil && int(k.head.size) <= roomOnBoard/k.c.group.n
}

// makeBoard makes the board if all members can reach it.
func (k *call) makeBoard() error {
	c := k.c
	p := c.w.p
	s := &board{}
	name := fmt.Sprintf("mpi/board/%d", c.id)
	var failed error
	if c.me == 0 {
		s.region, failed = p.OpenRegion(k.bound, name, 2*c.group.n*placeOnBoard, nil)
	}
	ok, err := k.all(failed == nil)
	if ok && err == nil {
		if s.remote, failed = p.AttachRegion(k.bound, c.group.at(0), name); failed == nil {
			s.memory = s.remote.Bytes()
		}
		s.barrier = p.Barrier(name, &weft.BarrierConfig{Algorithm: weft.BarrierShared, Members: c.group.Ranks()})
		ok, err = k.all(s.memory != nil)
	}
	if ok && err == nil {
		ok, err = k.all(s.barrier.Wait(k.bound) == nil)
	}
	if !ok || err != nil {
		return errors.Join(err, s.close())
	}
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
func (s *board) close() (err error) {
	if s.barrier != nil {
		err = s.barrier.Close()
	}
	if s.region != nil {
		err = errors.Join(err, s.region.Close())
	}
	return err
}

// meet waits until all members have written into their places.
func (k *call) meet() error {
	s := k.c.board
	n := k.c.group.n
	mine := s.place(k.c.me, n)
	if err := s.barrier.Wait(k.bound); err != nil {
		return k.apart(err)
	}
	for i := range n {
		theirs := s.place(i, n)
		if !bytes.Equal(theirs[:headSize], mine[:headSize]) {
			if h, _, ok := parseHeader(theirs[:headSize]); ok {
				return k.head.differs(k.c.group.at(i), &h)
			}
		}
	}
	return nil
}

// apart returns why the members of a board could not meet. A member that has let go of the barrier knows why the
// communicator is over, and its memory tells sooner than a message does. So this member waits for that, as if the other
// one were to send it something.
func (k *call) apart(err error) error {
	var gone *weft.PeerError
	if errors.As(err, &gone) {
		if place := k.c.group.find(gone.Rank); place >= 0 {
			err = cmp.Or(k.receiveFrom(k.bound, place, none), err)
		}
	}
	return k.c.unmet(err)
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

// on returns the elements in a member's place.
func (k *call) on(member int) []byte { return k.c.board.place(member, k.c.group.n)[64:] }

// turns carries out an operation on total bytes, of which each turn handles some: write writes those from one place to
// another into this member's place, and read uses what is there of each member.
func (k *call) turns(
	total, each int, write func(mine []byte, from, to int), read func(from, to int),
) error {
	s := k.c.board
	if k.c.w.loose.Load() > 0 {
		defer k.c.w.drive()()
	}
	each = each / int(max(k.head.size, 1)) * int(max(k.head.size, 1))
	for from := 0; from == 0 || from < total; from += each {
		to := min(from+each, total)
		s.turn++
		k.head.put(s.place(k.c.me, k.c.group.n)) // once: others read it while they are in the turn
		write(k.on(k.c.me), from, to)
		if err := k.meet(); err != nil {
			return err
		}
		read(from, to)
	}
	return nil
}

// drive has a goroutine take messages until end is called: members that meet on the board take none, nor do those that
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

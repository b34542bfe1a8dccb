package mpi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"weft"
	"weft/extend"
	"weft/failure"
	"weft/internal/mem"
)

// The operations of a board are carried out one after another, in the order in which they have been called or begun. No
// goroutine is bound to one of them. Each goroutine that waits for the end of an operation carries on what is first in
// the queue, as far as that goes, and then waits for the member that is awaited. So does the minder, for a program that
// computes.

// A queue is the operations of a board that go on. The board's lock guards it.
type queue struct {
	calls   []*call
	broken  bool    // one has failed: the others end, too
	awaits  awaited // by the first one
	waiters int     // goroutines in carry
	minder  minder
}

// An awaited is a turn of a member without which an operation cannot go on.
type awaited struct {
	member int
	turn   uint64
}

// A part is how far a call on the board has come.
type part struct {
	way         *way   // nil: it is not on the board
	whole, each int    // bytes of the elements, and of those of a turn
	writes      int    // so many times as many does this member write
	first, last int    // the members whose turns it reads
	wide        bool   // its elements are never in a slot
	far         bool   // its elements stay in the memory of their members: see board_far.go
	leaves      bool   // those of a member do, so that one waits for the others at the end
	shown       []byte // the table of parts that this member has shown

	outs, ins []Buffer // of an operation with a length for each member: what it writes and reads

	at     int // bytes before those of this turn
	round  int // turns before this one
	phase  phase
	err    error
	over   atomic.Bool
	waiter waiter
}

// A phase is what comes next in a turn.
type phase uint8

const (
	writing phase = iota
	reading
	sharing // members read once more
	leaving // of elements that stay where they are: the others read them still
)

// A waiter is what a goroutine that carries operations on waits for.
type waiter struct {
	memory []byte // a slot
	turn   uint64 // that it must have
	over   *atomic.Bool
	ready  func() bool // met, made once
}

// met reports whether the goroutine can go on: the member has come, or others have carried the operation out.
func (v *waiter) met() bool { return mem.Load64(v.memory, 0) >= v.turn || v.over.Load() }

// begin puts an operation that is only begun behind those that go on, and does what can be done at once.
func (s *board) begin(k *call) error {
	if err := k.way.begin(k); err != nil {
		return err
	}
	s.mu.Lock()
	s.queue.calls = append(s.queue.calls, k)
	why := s.advance()
	needed := !k.over.Load() && s.queue.minder.needed(k)
	s.mu.Unlock()
	if needed {
		s.c.w.p.Go(s.mind)
	}
	s.spoil(why)
	return nil
}

// advance carries operations on without waiting. If one fails it returns why. The lock is held.
func (s *board) advance() (why error) {
	q := &s.queue
	for len(q.calls) > 0 && !q.broken {
		k := q.calls[0]
		over, err := s.step(k)
		switch {
		case err != nil:
			return s.fail(k, err)
		case !over:
			return nil
		}
		q.calls = slices.Delete(q.calls, 0, 1)
		k.settle()
		k.over.Store(true)
	}
	return nil
}

// fail ends a call with an error, unless it is over, and returns what spoil tells the other members. The lock is held.
func (s *board) fail(k *call, err error) (why error) {
	if i := slices.Index(s.queue.calls, k); i >= 0 {
		s.queue.calls = slices.Delete(s.queue.calls, i, i+1)
		s.queue.broken = true
		why = k.explain(err)
		s.withdraw()
		k.err = err
		k.over.Store(true)
	}
	return why
}

// spoil revokes the communicator after an operation has failed, and ends the others on the board.
func (s *board) spoil(why error) {
	if why == nil {
		return
	}
	w := s.c.w
	w.mu.Lock()
	s.c.revoke(s.c.revocation(why))
	why = s.c.over()
	w.unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.withdraw()
	for _, k := range s.queue.calls {
		k.err = why
		k.over.Store(true)
	}
	s.queue.calls = nil
	s.bell.Rouse()
}

// step carries one operation on, and reports whether it is over. The lock is held.
func (s *board) step(k *call) (over bool, err error) {
	for {
		to := min(k.at+k.each, k.whole)
		if k.phase == writing {
			n := k.writes * (to - k.at)
			switch {
			case k.far:
				n = 0
			case k.wide:
				n = roomOnBoard
			case k.varied:
				n = k.roomVaried()
			}
			mine, ok, err := s.take(k, n)
			if !ok {
				return false, err
			}
			switch {
			case k.far:
				s.point(s.turn, k.src.flat.b)
			case k.writes > 0:
				k.way.write(k, mine, k.at, to)
			}
			s.tell(k)
			s.own(n)
			k.phase = reading
		}
		if ok, err := s.reach(k.first, k.last, s.turn); !ok {
			return false, err
		}
		if k.first == 0 && k.last == k.c.group.n {
			s.least = s.turn
		}
		if k.phase == leaving {
			return true, nil
		}
		if k.first < k.last && k.way.read != nil {
			next, err := k.way.read(k, k.at, to)
			switch {
			case errors.Is(err, errEnding):
				return false, nil
			case err != nil:
				return false, err
			}
			if k.phase = next; next == sharing {
				s.again(k)
				s.tell(k)
				continue
			}
		}
		k.at = to
		if k.round++; k.phase != writing && k.at >= k.whole {
			if !k.far && !k.leaves {
				return true, nil
			}
			s.leave(k)
			continue
		}
		k.phase = writing
	}
}

// carry returns when a call is over, with its error. If ctx ends first the call has failed.
func (k *call) carry(ctx context.Context) error {
	s := k.c.board
	s.mu.Lock()
	s.queue.waiters++
	if k.how == started {
		s.queue.minder.overtaken(k)
	} else {
		s.queue.calls = append(s.queue.calls, k)
	}
	for !k.over.Load() {
		why := s.advance()
		if why == nil && k.over.Load() {
			break
		}
		k.waiter.set(s, &k.over)
		member := s.queue.awaits.member
		s.mu.Unlock()
		s.spoil(why)
		if !k.over.Load() {
			if err := k.await(ctx, member); err != nil {
				s.mu.Lock()
				why = s.fail(k, err)
				s.mu.Unlock()
				s.spoil(why)
			}
		}
		s.mu.Lock()
	}
	s.queue.waiters--
	needed := s.queue.waiters == 0 && len(s.queue.calls) > 0 && s.queue.minder.start()
	s.mu.Unlock()
	if needed {
		s.c.w.p.Go(s.mind)
	}
	return k.err
}

// look carries operations on, and reports whether the call is over.
func (k *call) look() bool {
	s := k.c.board
	if !k.over.Load() && s.mu.TryLock() {
		why := s.advance()
		s.mu.Unlock()
		s.spoil(why)
	}
	if k.over.Load() {
		return true
	}
	s.bell.Vain()
	return false
}

// set makes the waiter wait for what the operations of a board await now. The lock is held.
func (v *waiter) set(s *board, over *atomic.Bool) {
	v.memory = s.slot(s.queue.awaits.member, s.queue.awaits.turn)
	v.turn = s.queue.awaits.turn
	v.over = over
}

// await waits for a member.
func (k *call) await(ctx context.Context, member int) error {
	c := k.c
	if k.bound == nil {
		c.w.mu.Lock()
		k.bound = c.bind(ctx)
		c.w.mu.Unlock()
	}
	if c.w.loose.Load() > 0 {
		defer c.w.drive()()
	}
	err := c.board.bell.Wait(k.bound, k.waiter.ready, c.group.at(member))
	if err == nil {
		return nil
	}
	if failure.GivenUp(err) {
		err = &weft.WaitError{Doing: k.doing(member), Err: err}
	}
	return c.unmet(err)
}

// doing describes the wait for a member.
func (k *call) doing(member int) string {
	return fmt.Sprintf("%v: turn of rank %d of %v", k.public(), member, k.c)
}

// waits adds to a list what goroutines wait for at the board.
func (s *board) waits(list []extend.Receive) []extend.Receive {
	if s == nil || !s.mu.TryLock() {
		return list
	}
	defer s.mu.Unlock()
	if s.queue.waiters == 0 || len(s.queue.calls) == 0 {
		return list
	}
	member := s.queue.awaits.member
	return append(list, extend.Receive{From: s.c.group.at(member), Call: s.queue.calls[0].doing(member)})
}

// settle puts results into the sections in which they belong.
func (k *call) settle() {
	into := func(b, flat *Buffer) {
		if b.at != nil && flat.b != nil {
			b.unpack(flat.b)
		}
	}
	into(&k.dst.all, &k.dst.flat)
	if k.op == OpBroadcast && k.c.me != k.root {
		into(&k.src.all, &k.src.flat)
	}
	for i := range k.ins {
		if k.op == OpScatter {
			into(&k.dst.all, &k.ins[i])
		} else {
			into(&k.dst.each[i], &k.ins[i])
		}
	}
}

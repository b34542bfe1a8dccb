package coord

import "weft/internal/engine/list"

// Kind says what an Op does.
type Kind uint8

// The kinds of operations.
const (
	Lock       Kind = iota + 1 // take the lock
	TryLock                    // take it if no rank has it: OK says
	RLock                      // take it together with other readers
	TryRLock                   //
	Unlock                     // give it back, whichever way it was taken
	Acquire                    // take N permits
	TryAcquire                 // take them if they are there: OK says
	Release                    // give N permits back
	Enter                      // become a waiter of a condition: N is the waiter's number
	Await                      // wait until waiter N has been woken, or phase N is over
	Signal                     // wake a waiter: N is how many were
	Broadcast                  // wake all
	Arrive                     // arrive at a barrier: Phase is the phase
	Pass                       // arrive at a barrier, and wait until the phase is over
	Sync                       // RBCQ-1: pass code; N is the distance to the next barrier of this member
	Break                      // a member, N, is gone: a barrier of others depends on it
	Bind                       // have a region guarded by a lock
	Close                      // take no part in a barrier any more: its name can be given to another one
	Settle                     // have a part of the memory that the members of a barrier share after they have met
)

// tries reports whether an operation never waits for what other ranks have.
func (k Kind) tries() bool { return k == TryLock || k == TryRLock || k == TryAcquire }

// An Op is one operation of the program. The caller fills in the first group of
// fields, lends the Op to the engine, and gets it back when it is Done.
type Op struct {
	Kind   Kind
	Object *Object
	N      uint64

	// Owner is the caller's, untouched.
	Owner any

	Done  bool
	Err   error
	OK    bool   // of TryLock, TryRLock and TryAcquire: whether it was taken
	Epoch uint64 // of a lock
	Died  bool   // the holder before died holding the lock
	Phase uint64 // of a barrier

	serial uint32
	link   list.Link[Op]
}

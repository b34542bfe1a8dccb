package coord

import (
	"fmt"
	"testing"

	"weft/failure"
)

// all delivers every event.
func (tb *table) all() {
	for tb.deliver() {
	}
}

// one runs an operation of a rank to its end.
func (tb *table) one(rank int, op *Op) {
	tb.t.Helper()
	tb.nodes[rank].Start(0, op)
	tb.all()
	for tb.nodes[rank].Finished() != nil {
	}
	if !op.Done || op.Err != nil {
		tb.t.Fatalf("rank %d, operation %d: done %v, %v", rank, op.Kind, op.Done, op.Err)
	}
}

// away returns the configuration of a lock whose home is rank 0.
func (tb *table) away() Config {
	for i := 0; ; i++ {
		c := Config{Class: QueueLock, Name: fmt.Sprint("L", i)}
		if tb.nodes[0].homeOf(c.id()) == 0 {
			return c
		}
	}
}

// forget makes a rank forget what is idle.
func (tb *table) forget(rank int) {
	tb.nodes[rank].forgetObjects()
	tb.nodes[rank].forgetHomes()
}

// TestForgottenRepair: a home that has forgotten a lock does not begin behind the repairs that others remember.
func TestForgottenRepair(t *testing.T) {
	tb := newTable(t, 3, 1)
	locks := tb.open(tb.away())
	tb.one(2, &Op{Kind: Lock, Object: locks[2]})
	tb.nodes[1].Start(0, &Op{Kind: Lock, Object: locks[1]})
	tb.all()
	tb.dead[1] = true
	for _, rank := range []int{0, 2} {
		tb.nodes[rank].Down(1, &failure.PeerError{Rank: 1})
	}
	tb.all()
	tb.one(2, &Op{Kind: Unlock, Object: locks[2]})
	for range 2 {
		tb.forget(2)
		tb.all()
		tb.forget(0)
	}
	if len(tb.nodes[0].homes)+len(tb.nodes[2].objects) > 0 {
		t.Fatal("it is not forgotten")
	}
	tb.one(2, &Op{Kind: Lock, Object: locks[2]})
}

// TestWaitersAreRemembered: a condition is forgotten by its home when nobody waits for it, and not before.
func TestWaitersAreRemembered(t *testing.T) {
	tb := newTable(t, 3, 1)
	c := tb.away()
	c.Class = Cond
	conds := tb.open(c)
	enter := &Op{Kind: Enter, Object: conds[2]}
	tb.one(2, enter)
	if tb.nodes[0].forgetHomes(); len(tb.nodes[0].homes) != 1 {
		t.Fatal("it is forgotten while a rank waits")
	}
	tb.one(1, &Op{Kind: Signal, Object: conds[1]})
	tb.one(2, &Op{Kind: Await, Object: conds[2], N: enter.N})
	if tb.nodes[0].forgetHomes(); len(tb.nodes[0].homes) != 0 {
		t.Error("it is not forgotten")
	}
}

// TestForgottenTry: a rank that has given the token back and has forgotten the lock answers for a rank that tries to
// get it.
func TestForgottenTry(t *testing.T) {
	tb := newTable(t, 3, 1)
	locks := tb.open(tb.away())
	tb.one(1, &Op{Kind: Lock, Object: locks[1]})
	tb.one(1, &Op{Kind: Unlock, Object: locks[1]})
	op := &Op{Kind: TryLock, Object: locks[2]}
	tb.nodes[2].Start(0, op)
	tb.collect()
	request := tb.ways[2][0][0]
	tb.ways[2][0] = nil
	if err := tb.nodes[0].Recv(0, 2, request.Append(nil)); err != nil { // rank 0 asks rank 1
		t.Fatal(err)
	}
	tb.forget(1)
	tb.forget(1)
	tb.all()
	if !op.Done {
		t.Error("the try has no answer")
	}
	tb.one(2, &Op{Kind: Lock, Object: locks[2]})
}

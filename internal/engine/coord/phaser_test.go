package coord

import (
	"errors"
	"fmt"
	"testing"

	"weft/failure"
)

// TestBrokenPhases: a phase at which a rank has arrived, and that a death has
// broken, is an error when it is waited for, however many have been broken since.
func TestBrokenPhases(t *testing.T) {
	tb := newTable(t, 5, 1)
	all := tb.open(Config{Class: Phaser, Name: "b"})
	home := tb.nodes[0].homeOf(all[0].ID)
	me := (home + 1) % 5
	for rank, o := range all {
		tb.nodes[rank].Start(0, &Op{Kind: Join, Object: o})
	}
	for tb.deliver() {
	}
	tb.nodes[me].Start(0, &Op{Kind: Arrive, Object: all[me]})
	for k := 2; k < 5; k++ { // three die, and with each a phase
		tb.nodes[home].Down((home+k)%5, &failure.PeerError{Rank: (home + k) % 5})
		for tb.deliver() {
		}
	}
	op := &Op{Kind: Await, Object: all[me]}
	if tb.nodes[me].Start(0, op); !op.Done || !errors.Is(op.Err, failure.ErrBroken) {
		t.Errorf("%+v", op)
	}
}

// TestLateAtBrokenPhases: a rank that comes to a phase that a death has broken meanwhile is told of it as the others
// were, phase by phase, and does not wait in a phase that nobody else enters.
func TestLateAtBrokenPhases(t *testing.T) {
	for _, kind := range []Kind{Pass, Arrive} {
		tb := newTable(t, 5, 1)
		all := tb.open(Config{Class: Phaser, Name: "b"})
		home := tb.nodes[0].homeOf(all[0].ID)
		me := (home + 1) % 5
		for rank, o := range all {
			tb.nodes[rank].Start(0, &Op{Kind: Join, Object: o})
		}
		for tb.deliver() {
		}
		for k := 2; k < 4; k++ {
			tb.nodes[home].Down((home+k)%5, &failure.PeerError{Rank: (home + k) % 5})
			for tb.deliver() {
			}
		}
		early := &Op{Kind: Await, Object: all[me]}
		if tb.nodes[me].Start(0, early); !errors.Is(early.Err, failure.ErrMisuse) {
			t.Errorf("a wait for a phase before the rank has arrived: %+v", early)
		}
		for phase := range uint64(2) {
			op := &Op{Kind: kind, Object: all[me]}
			tb.nodes[me].Start(0, op)
			if kind == Arrive {
				op = &Op{Kind: Await, Object: all[me], N: op.N}
				tb.nodes[me].Start(0, op)
			}
			var broken *failure.BrokenError
			if !op.Done || !errors.As(op.Err, &broken) || broken.Phase != phase || broken.Rank != (home+2+int(phase))%5 {
				t.Errorf("kind %d, phase %d: %+v", kind, phase, op)
			}
		}
		op := &Op{Kind: Pass, Object: all[me]}
		if tb.nodes[me].Start(0, op); op.Done {
			t.Errorf("kind %d: a phase is over that nobody has broken: %+v", kind, op)
		}
	}
}

// TestReturnedAtHome: a rank whose program returns when it has arrived at a phase stops no other member at the next
// one, wherever the home of the barrier is.
func TestReturnedAtHome(t *testing.T) {
	const n = 3
	for home := range n {
		l := newTable(t, n, uint64(home))
		c := Config{Class: Phaser}
		for i := 0; c.Name == "" || l.nodes[0].homeOf(c.id()) != home; i++ {
			c.Name = fmt.Sprint("b", i)
		}
		all := l.open(c)
		run := func() {
			for l.deliver() {
			}
		}
		for i, o := range all {
			l.nodes[i].Start(0, &Op{Kind: Join, Object: o})
		}
		run()
		l.nodes[0].Start(0, &Op{Kind: Arrive, Object: all[0]})
		run()
		l.nodes[0].Return()
		for rank := 1; rank < n; rank++ {
			l.nodes[rank].Returned(0, &failure.PeerError{Rank: 0, Clean: true})
		}
		for phase := range 3 {
			var ops []*Op
			for rank := 1; rank < n; rank++ {
				op := &Op{Kind: Pass, Object: all[rank]}
				l.nodes[rank].Start(0, op)
				ops = append(ops, op)
			}
			run()
			for i, op := range ops {
				if !op.Done || phase > 0 && op.Err != nil {
					t.Errorf("home %d: phase %d at rank %d: done %v, %v", home, phase, i+1, op.Done, op.Err)
				}
			}
		}
	}
}

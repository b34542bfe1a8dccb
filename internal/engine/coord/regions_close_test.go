package coord

import (
	"errors"
	"testing"

	"weft/failure"
)

// TestRegionsAreMadeAnew: members of an RBCQ-1 barrier close it after their last code and open one of the same name,
// again and again, in whichever order the events arrive. Each passes all its codes, and nothing is kept of barriers
// that are over, neither at the members nor at the home.
func TestRegionsAreMadeAnew(t *testing.T) {
	const lives = 5
	for seed := range uint64(200) {
		n := 2 + int(seed)%4
		l := newTable(t, n, seed)
		passed := make([]int, n)
		objects := make([]*Object, n)
		ops := make([]*Op, n)
		step := func(i int) bool {
			node := l.nodes[i]
			switch op := ops[i]; {
			case op != nil && !op.Done:
				return false
			case op != nil:
				ops[i] = nil
				for node.Finished() != nil {
				}
				if op.Err != nil || op.Phase != uint64(passed[i]%3) {
					t.Fatalf("seed %d: rank %d after %d codes: %v, barrier %d", seed, i, passed[i], op.Err, op.Phase)
				}
				if passed[i]++; passed[i]%3 == 0 {
					end := &Op{Kind: Close, Object: objects[i]}
					if node.Start(0, end); !end.Done || end.Err != nil {
						t.Fatal(end.Err)
					}
					objects[i] = nil
				}
			case passed[i] == 3*lives:
				return false
			case objects[i] == nil:
				o, err := node.Open(0, Config{Class: Regions, Name: "B"})
				if err != nil {
					t.Fatal(err)
				}
				objects[i] = o
			default:
				op := &Op{Kind: Sync, Object: objects[i], N: 1}
				if passed[i]%3 == 2 {
					op.N = Never
				}
				ops[i] = op
				node.Start(0, op)
			}
			return true
		}
		for more := true; more; {
			more = false
			for range 2 * n {
				more = step(l.rand.IntN(n)) || more
			}
			for i := range n {
				more = l.deliver() || step(i) || more
			}
		}
		for i, node := range l.nodes {
			kept := len(node.objects) + len(node.homes) + len(node.early) + len(node.closed)
			if passed[i] != 3*lives || kept > 0 {
				t.Fatalf("seed %d: rank %d of %d has passed %d codes, and keeps %d things", seed, i, n, passed[i], kept)
			}
		}
	}
}

// TestRegionsCloseBreaks: a member that closes an RBCQ-1 barrier in which it has more to take part ends the calls of
// the others, and its own; what it is sent then does not reach the next barrier of the name.
func TestRegionsCloseBreaks(t *testing.T) {
	for seed := range uint64(50) {
		l := newTable(t, 3, seed)
		run := func() {
			for l.deliver() {
			}
		}
		var waits []*Op
		for i, node := range l.nodes {
			o, err := node.Open(0, Config{Class: Regions, Name: "B"})
			if err != nil {
				t.Fatal(err)
			}
			op := &Op{Kind: Sync, Object: o, N: 1}
			if i < 2 {
				node.Start(0, op)
				run()
				if !op.Done || op.Err != nil {
					t.Fatalf("rank %d at the first code: %v", i, op.Err)
				}
				node.Finished()
				op = &Op{Kind: Sync, Object: o, N: 1}
				node.Start(0, op) // waits for rank 2
			}
			waits = append(waits, op)
		}
		end := &Op{Kind: Close, Object: waits[0].Object}
		l.nodes[0].Start(0, end)
		run()
		var broken *failure.BrokenError
		if !errors.Is(waits[0].Err, failure.ErrClosed) || !errors.As(waits[1].Err, &broken) || broken.Rank != 0 {
			t.Fatalf("rank 0 has closed it: %v, %v", waits[0].Err, waits[1].Err)
		}
		l.nodes[1].Start(0, &Op{Kind: Close, Object: waits[1].Object})
		l.nodes[2].Start(0, &Op{Kind: Close, Object: waits[2].Object})
		run()
		for i, node := range l.nodes {
			if kept := len(node.objects) + len(node.homes) + len(node.early) + len(node.closed); kept > 0 {
				t.Fatalf("rank %d keeps %d things", i, kept)
			}
		}
	}
}

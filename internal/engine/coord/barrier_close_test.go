package coord

import (
	"testing"

	"weft/failure"
)

// A lives is ranks that open a barrier of the same name again and again: each life has some phases.
type lives struct {
	*table
	c       Config
	count   []int // phases that each rank has passed, in all lives
	arrived []int
	objects []*Object
	ops     []*Op
}

const (
	livesEach  = 6
	phasesEach = 3
)

// TestBarrierIsMadeAnew: ranks that close a barrier and open one of the same name, again and again, take part in the
// same phases of the same one, in whichever order the events arrive; and nothing is kept of barriers that are over.
func TestBarrierIsMadeAnew(t *testing.T) {
	for _, c := range []Config{
		{Algorithm: Central}, {Algorithm: Tree, Arity: 2}, {Algorithm: Dissemination}, {Algorithm: ModifiedShuffle},
		{Algorithm: Central, Aligned: true, Window: 1}, {Algorithm: Tree, Arity: 8, Memory: 1, Window: 8},
	} {
		c.Class = Barrier
		c.Name = "B"
		for seed := range uint64(60) {
			n := 2 + int(seed)%5
			l := &lives{
				newTable(t, n, seed), c, make([]int, n), make([]int, n), make([]*Object, n), make([]*Op, n),
			}
			l.run()
			for i, node := range l.nodes {
				kept := len(node.objects) + len(node.early) + len(node.closed) + len(node.timers) + node.aligned
				if !l.over(i) || kept > 0 {
					t.Fatalf("%v, seed %d: rank %d has passed %d phases, and keeps %d things", c.Algorithm, seed, i, l.count[i], kept)
				}
			}
		}
	}
}

func (l *lives) over(i int) bool { return l.count[i] == livesEach*phasesEach }

// run delivers events and lets ranks go on, in any order, until nothing is left to do.
func (l *lives) run() {
	for more := true; more; {
		more = false
		for range l.nodes {
			more = l.step(l.rand.IntN(len(l.nodes))) || more
		}
		for i, node := range l.nodes {
			more = l.deliver() || more
			node.Advance(1 << 40)
			more = more || l.ops[i] != nil && l.ops[i].Done || l.ops[i] == nil && !l.over(i)
		}
	}
}

// step lets a rank go on, and reports whether it could.
func (l *lives) step(i int) bool {
	switch op := l.ops[i]; {
	case op != nil && !op.Done:
		return false
	case op != nil:
		l.passed(i)
	case l.over(i):
		return false
	case l.objects[i] == nil:
		o, err := l.nodes[i].Open(0, l.c)
		if err != nil {
			l.t.Fatal(err)
		}
		l.objects[i] = o
	default:
		l.arrived[i]++
		l.ops[i] = &Op{Kind: Pass, Object: l.objects[i]}
		l.nodes[i].Start(0, l.ops[i])
	}
	return true
}

// passed checks a phase that a rank has passed. After the last one of a life the rank closes the barrier.
func (l *lives) passed(i int) {
	op := l.ops[i]
	l.ops[i] = nil
	for l.nodes[i].Finished() != nil {
	}
	if op.Err != nil || op.Phase != uint64(l.count[i]%phasesEach)+1 {
		l.t.Fatalf("%v: rank %d after %d phases: %v, phase %d", l.c.Algorithm, i, l.count[i], op.Err, op.Phase)
	}
	l.count[i]++
	for _, a := range l.arrived {
		if a < l.count[i] {
			l.t.Fatalf("%v: rank %d has passed %d phases, others have arrived at %v", l.c.Algorithm, i, l.count[i], l.arrived)
		}
	}
	if l.count[i]%phasesEach == 0 {
		end := &Op{Kind: Close, Object: l.objects[i]}
		if l.nodes[i].Start(0, end); !end.Done || end.Err != nil {
			l.t.Fatal(end.Err)
		}
		l.objects[i] = nil
	}
}

// TestDeserted: a member that has left in good order after the last phase has deserted nobody.
func TestDeserted(t *testing.T) {
	err := new(failure.BrokenError)
	for _, c := range []struct {
		limit, done uint64
		err         *failure.BrokenError
		clean, want bool
	}{{3, 3, err, true, false}, {2, 3, err, true, true}, {3, 3, err, false, true}, {3, 3, nil, false, false}} {
		o := &Object{participant: &barrier{limit: c.limit, done: c.done, err: c.err, clean: c.clean}}
		if got := o.Deserted(); (got != nil) != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

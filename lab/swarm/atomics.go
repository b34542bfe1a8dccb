package swarm

import (
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"

	"weft/internal/engine/rma"
	"weft/internal/engine/wire"
	"weft/internal/mem"
)

// words is how many words of an area are for atomic operations.
const words = 4

// A history is what was done to one word.
type history []*access

// An access is one atomic operation.
type access struct {
	code  wire.Code
	a, b  uint64
	begun int64
	ended int64 // 0: it is not known whether it was executed
	saw   uint64
}

// atomic begins an atomic operation. Few values are in use, so that some of
// the comparisons succeed.
func (n *node) atomic(rank int, r *remote) {
	rand := n.c.world.Rand
	w := rand.IntN(words)
	acc := &access{code: wire.Code(rand.IntN(3)), a: uint64(rand.IntN(8)), b: uint64(rand.IntN(8))}
	n.c.tick++
	acc.begun = n.c.tick
	r.area.words[w] = append(r.area.words[w], acc)
	op := n.op(rma.Atomic, rank, r)
	op.Off = uint64(8 * w)
	op.Code = acc.code
	op.A = acc.a
	op.B = acc.b
	n.run(op, func() {
		if n.check("Atomic", op.Err) {
			n.c.tick++
			acc.ended = n.c.tick
			acc.saw = op.Value
		}
	}, func() {})
}

// model is a word as it ought to be.
var model = porcupine.Model{
	Init: func() any { return uint64(0) },
	Step: func(state, input, output any) (bool, any) {
		v := state.(uint64)
		acc := input.(*access)
		saw := output.(*uint64)
		ok := saw == nil || *saw == v
		switch {
		case acc.code == wire.CodeAdd:
			v += acc.a
		case acc.code == wire.CodeSwap:
			v = acc.a
		case v == acc.a:
			v = acc.b
		}
		return ok, v
	},
	Equal: func(a, b any) bool { return a == b },
	DescribeOperation: func(input, output any) string {
		acc := input.(*access)
		return fmt.Sprintf("%v(%d, %d) saw %v", acc.code, acc.a, acc.b, output)
	},
}

// linearize checks that there is an order of all accesses to each word in which
// each saw what it says, and that ends with what the word holds. An access that did not end
// may have been executed at any time since, or never: then its place is after the last look.
func (a *area) linearize(n *node) {
	for w, h := range a.words {
		var ops []porcupine.Operation
		for i, acc := range h {
			if acc.ended == 0 {
				ops = append(ops, porcupine.Operation{ClientId: i, Input: acc, Call: acc.begun, Output: (*uint64)(nil),
					Return: n.c.tick + 4})
				continue
			}
			ops = append(ops, porcupine.Operation{ClientId: i, Input: acc, Call: acc.begun, Output: &acc.saw, Return: acc.ended})
		}
		if len(ops) == 0 {
			continue
		}
		if a.alive(n.c) {
			last := mem.Load64(a.bytes, 8*w)
			look := &access{code: wire.CodeAdd}
			ops = append(ops, porcupine.Operation{ClientId: len(h), Input: look, Call: n.c.tick + 2, Output: &last,
				Return: n.c.tick + 3})
		}
		if porcupine.CheckOperationsTimeout(model, ops, 5*time.Second) == porcupine.Illegal {
			n.c.fail("atomicity", "the %d atomic operations on word %d of rank %d fit no order", len(h), w, a.owner.rank)
		}
	}
}

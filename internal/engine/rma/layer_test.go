package rma

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"weft/internal/engine/wire"
	"weft/internal/mem"
)

// An access is two layers: that of rank 0 works on a region of rank 1.
type access struct {
	t      *testing.T
	rigs   [2]*rig
	memory []byte // the region
	model  []byte // what it must hold when all operations have ended
	found  Found
	open   map[*Op]func() // operations under way, with what is checked when they have ended
}

func newAccess(t *testing.T, size int) *access {
	a := &access{t: t, rigs: [2]*rig{newRig(t), newRig(t)}, open: map[*Op]func(){}}
	a.memory = mem.Aligned(size)
	a.model = mem.Aligned(size)
	if _, err := a.rigs[1].layer.Expose("r", a.memory, 0, false, 0, nil); err != nil {
		t.Fatal(err)
	}
	op := &Op{Kind: Attach, Peer: 1, Name: "r"}
	a.start(op, func() { a.found = op.Found })
	a.settle()
	return a
}

// start begins an operation.
func (a *access) start(op *Op, ended func()) {
	op.Region = a.found.Region
	op.Key = a.found.Key
	a.open[op] = ended
	a.rigs[0].layer.Start(op)
}

// settle delivers frames until none is left, and ends the operations.
func (a *access) settle() {
	for moved := true; moved; {
		moved = false
		for me := range a.rigs {
			frames, _ := a.rigs[me].take(1 - me)
			for _, frame := range frames {
				moved = true
				a.rigs[1-me].says(me, frame)
			}
		}
	}
	for op := a.rigs[0].layer.Finished(); op != nil; op = a.rigs[0].layer.Finished() {
		if op.Err != nil {
			a.t.Fatalf("%+v", op)
		}
		a.open[op]()
		delete(a.open, op)
	}
	if len(a.open) > 0 {
		a.t.Fatalf("%d operations have not ended", len(a.open))
	}
}

// write begins a random operation that writes, and does to the model what it does to the
// memory.
func (a *access) write(rand *rand.Rand) {
	off := 8 * rand.IntN(len(a.model)/8)
	n := 1 + rand.IntN(min(len(a.model)-off, 200))
	b := bytes.Repeat([]byte{byte(rand.IntN(255))}, n)
	switch rand.IntN(3) {
	case 0:
		copy(a.model[off:], b)
		a.start(&Op{Kind: Push, Peer: 1, Off: uint64(off), Buf: b}, func() {})
	case 1:
		b = b[:min(n, 32)]
		copy(a.model[off:], b)
		if err := a.rigs[0].layer.Put(1, a.found.Region, a.found.Key, uint64(off), b, 0, 0); err != nil {
			a.t.Fatal(err)
		}
	default:
		op := &Op{Kind: Atomic, Peer: 1, Off: uint64(off), Code: wire.CodeAdd, A: uint64(n)}
		want := Apply(a.model, off, wire.CodeAdd, uint64(n), 0)
		a.start(op, func() {
			if op.Value != want {
				a.t.Errorf("an addition at %d has seen %d, want %d", off, op.Value, want)
			}
		})
	}
}

// read begins a PULL of a random part of the region.
func (a *access) read(rand *rand.Rand) {
	off := rand.IntN(len(a.model))
	op := &Op{Kind: Pull, Peer: 1, Off: uint64(off), Buf: make([]byte, 1+rand.IntN(len(a.model)-off))}
	a.start(op, func() {
		if !bytes.Equal(op.Buf, a.model[off:off+len(op.Buf)]) {
			a.t.Errorf("a PULL of %d bytes at %d brings others than the region holds", len(op.Buf), off)
		}
	})
}

// Operations at a peer are executed in the order in which they begin: memory holds what a
// model holds in which each is executed at once. More of them than may be under way at a time
// wait, and end all the same.
func TestOperationsInOrder(t *testing.T) {
	for seed := range uint64(20) {
		rand := rand.New(rand.NewPCG(seed, 3))
		a := newAccess(t, 1024)
		for range 30 {
			for range rand.IntN(maxOutstanding) { // a PUT does not wait for operations that have not begun
				a.write(rand)
			}
			a.start(&Op{Kind: Flush, Peer: 1}, func() {})
			a.settle()
			if !bytes.Equal(a.memory, a.model) {
				t.Fatalf("seed %d: the region does not hold what was written to it", seed)
			}
			for range maxOutstanding + 20 {
				a.read(rand)
			}
			a.settle()
		}
	}
}

// A peer that waits for a region is told of its key after Admit: it may map the memory at once.
func TestAdmitGoesAhead(t *testing.T) {
	asker := newRig(t)
	owner := newRig(t)
	asker.layer.Start(&Op{Kind: Attach, Peer: 1, Name: "r"})
	frames, _ := asker.take(1)
	for _, frame := range frames {
		owner.says(0, frame)
	}
	var admitted *Region
	owner.layer.Admit = func(r *Region) {
		admitted = r
		if q := owner.queues[0]; q != nil && q.Len() > 0 {
			t.Error("the peer has been told already")
		}
	}
	r, err := owner.layer.Expose("r", mem.Aligned(8), 1, false, 0, nil)
	if err != nil || admitted != r {
		t.Errorf("admitted %+v, exposed %+v, %v", admitted, r, err)
	}
	if frames, _ := owner.take(0); len(frames) != 1 {
		t.Errorf("the peer is told by %d frames", len(frames))
	}
}

package rma

import (
	"bytes"
	"math"
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
	a.rigs[0].room = wire.MaxPut + 24
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
	n := 1 + rand.IntN(min(len(a.model)-off, 400))
	b := bytes.Repeat([]byte{byte(rand.IntN(255))}, n)
	switch rand.IntN(4) {
	case 3:
		a.update(rand, off)
	case 0:
		copy(a.model[off:], b)
		a.start(&Op{Kind: Push, Peer: 1, Off: uint64(off), Buf: b}, func() {})
	case 1:
		b = b[:min(n, wire.MaxPut)]
		copy(a.model[off:], b)
		if err := a.put(&Op{Off: uint64(off), Buf: b}); err != nil {
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

func (a *access) put(op *Op) error {
	op.Peer = 1
	op.Region = a.found.Region
	op.Key = a.found.Key
	return a.rigs[0].layer.Put(op)
}

// update begins a random update of some words: one at a time, a few, or more than one packet holds.
func (a *access) update(rand *rand.Rand, off int) {
	code := wire.Code(rand.IntN(int(wire.CodeMaxFloat) + 1))
	words := mem.Aligned(8 * (1 + rand.IntN(min((len(a.model)-off)/8, 30))))
	for i := range words {
		words[i] = byte(rand.Uint32())
	}
	if code == wire.CodeCompareSwap || rand.IntN(2) == 0 {
		op := &Op{Kind: Atomic, Peer: 1, Off: uint64(off), Code: code, A: mem.Load64(a.model, off), B: rand.Uint64()}
		if rand.IntN(2) == 0 {
			op.A = mem.Load64(words, 0)
		}
		want := Apply(a.model, off, code, op.A, op.B)
		a.start(op, func() {
			if op.Value != want {
				a.t.Errorf("operation %d at %d has seen %d, want %d", code, off, op.Value, want)
			}
		})
		return
	}
	Write(a.model[off:], code, words)
	if len(words) > wire.MaxPut {
		a.start(&Op{Kind: Push, Peer: 1, Off: uint64(off), Code: code, Buf: words}, func() {})
	} else if err := a.put(&Op{Off: uint64(off), Code: code, Buf: words}); err != nil {
		a.t.Fatal(err)
	}
}

// TestApply: what each operation makes of a word, and that it returns what was there.
func TestApply(t *testing.T) {
	minus := func(n int64) uint64 { return uint64(-n) }
	float := math.Float64bits
	for _, c := range []struct {
		code       wire.Code
		v, a, want uint64
	}{
		{wire.CodeSwap, 5, 6, 6}, {wire.CodeAdd, 5, 6, 11}, {wire.CodeAdd, 5, minus(6), minus(1)}, {wire.CodeMul, 5, 6, 30},
		{wire.CodeCompareSwap, 5, 5, 99}, {wire.CodeCompareSwap, 5, 6, 5},
		{wire.CodeAnd, 6, 3, 2}, {wire.CodeOr, 6, 3, 7}, {wire.CodeXor, 6, 3, 5},
		{wire.CodeMin, 5, minus(6), minus(6)}, {wire.CodeMax, 5, minus(6), 5},
		{wire.CodeMinUnsigned, 5, minus(6), 5}, {wire.CodeMaxUnsigned, 5, minus(6), minus(6)},
		{wire.CodeAddFloat, float(1.5), float(-4), float(-2.5)}, {wire.CodeMulFloat, float(1.5), float(-4), float(-6)},
		{wire.CodeMinFloat, float(1.5), float(-4), float(-4)}, {wire.CodeMaxFloat, float(1.5), float(-4), float(1.5)},
	} {
		b := mem.Aligned(24)
		mem.Store64(b, 8, c.v)
		if seen := Apply(b, 8, c.code, c.a, 99); seen != c.v || mem.Load64(b, 8) != c.want {
			t.Errorf("operation %d of %d on %d has seen %d, and left %d", c.code, c.a, c.v, seen, mem.Load64(b, 8))
		}
		if mem.Load64(b, 0) != 0 || mem.Load64(b, 16) != 0 {
			t.Errorf("operation %d has changed a neighbour", c.code)
		}
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

// TestPutsWait: a Put of up to 128 bytes is one frame, and its bytes are copied also while many wait.
func TestPutsWait(t *testing.T) {
	a := newAccess(t, 4096)
	b := make([]byte, wire.MaxPut)
	const puts = 40
	for i := range puts {
		b[0] = byte(i)
		b[len(b)-1] = byte(i)
		if err := a.put(&Op{Off: uint64(i), Buf: b}); err != nil {
			t.Fatal(err)
		}
	}
	clear(b)
	frames, _ := a.rigs[0].take(1)
	if len(frames) != puts {
		t.Errorf("%d frames of %d Puts", len(frames), puts)
	}
	for i, frame := range frames {
		_, payload, err := wire.ParsePut(frame)
		if err != nil || len(payload) != len(b) || payload[0] != byte(i) || payload[len(b)-1] != byte(i) {
			t.Errorf("Put %d: %x, %v", i, payload, err)
		}
	}
	if again := a.rigs[0].layer.peer(1).copied(b); &again[0] != &a.rigs[0].layer.peer(1).copied(b)[0] {
		t.Error("memory for copies is not used again once nothing waits")
	}
}

package endpoint

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"weft/internal/waittest"
)

// offer registers n bytes of a party, and returns them.
func (p *party) offer(t *testing.T, key uint64, n int, access uint64) []byte {
	t.Helper()
	b := make([]byte, n)
	must(t, p.memory.Register(key, b, access))
	return b
}

// reach carries an access of a to b's memory out, and returns what is told of it.
func reach(t *testing.T, a, b *party, x Access) Entry {
	t.Helper()
	x.To = 1
	x.Completes = true
	x.Context = 7
	must(t, a.Access(&x))
	e := next(t, a.sent, a, b)
	if e.Context != 7 {
		t.Fatalf("told of %d", e.Context)
	}
	return e
}

// Bytes are written to memory of the other endpoint, and read from it, in one packet and in many.
func TestAccess(t *testing.T) {
	a, b := pair(t)
	const n = 1 << 18
	there := b.offer(t, 5, n, RemoteRead|RemoteWrite)
	for _, size := range []int{0, 1, EagerAccess, EagerAccess + 1, n - 3} {
		e := reach(t, a, b, Access{Verb: Write, Key: 5, At: 3, Out: text(size, size)})
		if e.Err != ErrNone || e.Flags != flagRemote|flagWrite {
			t.Fatalf("%d bytes: %+v", size, e)
		}
		same(t, there[3:3+size], size)
		back := make([]byte, size)
		e = reach(t, a, b, Access{Verb: Read, Key: 5, At: 3, In: back})
		if e.Err != ErrNone || e.Flags != flagRemote|flagRead {
			t.Fatalf("%d bytes: %+v", size, e)
		}
		same(t, back, size)
	}
	if a.counters.Writes.Ended != 5 || a.counters.Reads.Ended != 5 || b.counters.RemoteWrites.Ended != 5 ||
		b.counters.RemoteReads.Ended != 5 {
		t.Errorf("counted: %+v, %+v", a.counters, b.counters)
	}
	var writes Counter
	must(t, b.memory.Count(5, &writes))
	e := reach(t, a, b, Access{Verb: Write, Key: 5, Out: text(9, 9), HasData: true, Data: 77})
	if e.Err != ErrNone || writes.Ended != 1 {
		t.Fatal(e, writes)
	}
	if e := next(t, b.received, a, b); e.Data != 77 || e.Len != 9 || e.Flags != flagRemote|flagRemoteWrite|flagData {
		t.Errorf("the target is told %+v", e)
	}
}

// Memory that was not offered, or not so, is not accessed, and the program hears of it.
func TestAccessRefused(t *testing.T) {
	a, b := pair(t)
	there := b.offer(t, 5, 100, RemoteWrite)
	long := make([]byte, EagerAccess+1)
	for _, c := range []struct {
		what string
		Access
		want Errno
	}{
		{"no key", Access{Verb: Write, Key: 6, Out: make([]byte, 4)}, ErrNoKey},
		{"over the end", Access{Verb: Write, Key: 5, At: 97, Out: []byte("long")}, ErrAccess},
		{"far over it", Access{Verb: Write, Key: 5, At: math.MaxUint64, Out: []byte("long")}, ErrAccess},
		{"long", Access{Verb: Write, Key: 5, Out: long}, ErrAccess},
		{"read", Access{Verb: Read, Key: 5, In: make([]byte, 4)}, ErrAccess},
		{"read long", Access{Verb: Read, Key: 5, In: long}, ErrAccess},
		{"no operation", Access{Verb: Atomic, Op: 99, Type: 7, Key: 5, Out: make([]byte, 8)}, ErrInvalid},
		{"no type", Access{Verb: Atomic, Op: opSum, Type: 10, Key: 5, Out: make([]byte, 8)}, ErrInvalid},
		{"half a word", Access{Verb: Atomic, Op: opSum, Type: 7, Key: 5, Out: make([]byte, 4)}, ErrInvalid},
	} {
		if e := reach(t, a, b, c.Access); e.Err != c.want {
			t.Errorf("%s: %+v", c.what, e)
		}
	}
	b.memory.Drop(5)
	if e := reach(t, a, b, Access{Verb: Write, Key: 5, Out: []byte("late")}); e.Err != ErrNoKey {
		t.Errorf("taken back: %+v", e)
	}
	if !bytes.Equal(there, make([]byte, len(there))) {
		t.Error("something was written")
	}
	if n := b.memory.Register(5, nil, 0); n != ErrNone {
		t.Error(n)
	}
	if n := b.memory.Register(5, nil, 0); n != ErrNoKey {
		t.Errorf("a key is used twice: %d", n)
	}
}

// Atomic operations do what libfabric says, and return what was there.
func TestAtomic(t *testing.T) {
	a, b := pair(t)
	there := b.offer(t, 1, 16, RemoteRead|RemoteWrite)
	word := func(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }
	minus := func(v int64) uint64 { return uint64(-v) }
	real := math.Float64bits
	for _, c := range []struct {
		op, typ            uint8
		was, by, than, now uint64
	}{
		{opMin, 6, 3, minus(4), 0, minus(4)},
		{opMin, 7, 3, minus(4), 0, 3},
		{opMax, 9, real(-1), real(0.5), 0, real(0.5)},
		{opSum, 6, 3, 4, 0, 7},
		{opSum, 1, 0xff00ff, 0x010101, 0, 0x000100},
		{opSum, 9, real(1), real(0.5), 0, real(1.5)},
		{opProduct, 7, 3, 4, 0, 12},
		{opAnd, 7, 3, 4, 0, 1},
		{opOr, 7, 0, 0, 0, 0},
		{opXor, 7, 3, 4, 0, 0},
		{opBitOr, 7, 3, 4, 0, 7},
		{opBitAnd, 3, 6, 3, 0, 2},
		{opBitXor, 7, 6, 3, 0, 5},
		{opRead, 7, 6, 3, 0, 6},
		{opWrite, 7, 6, 3, 0, 3},
		{opSwapEqual, 7, 6, 3, 6, 3},
		{opSwapEqual, 7, 6, 3, 5, 6},
		{opSwapOther, 7, 6, 3, 5, 3},
		{opSwapLessEqual, 7, 6, 3, 6, 3},
		{opSwapLess, 7, 6, 3, 6, 6},
		{opSwapGreaterEqual, 7, 6, 3, 7, 3},
		{opSwapGreater, 7, 6, 3, 6, 6},
		{opSwapMasked, 7, 0xf0, 0x3c, 0x0f, 0xfc},
	} {
		copy(there[8:], word(c.was))
		x := Access{Verb: Atomic, Op: c.op, Type: c.typ, Key: 1, At: 8, Out: word(c.by), In: word(0)}
		if c.op >= opSwapEqual {
			x.With = word(c.than)
		}
		if e := reach(t, a, b, x); e.Err != ErrNone || e.Flags != flagAtomic|flagRead {
			t.Fatalf("%+v: %+v", c, e)
		}
		if now := binary.LittleEndian.Uint64(there[8:]); now != c.now || binary.LittleEndian.Uint64(x.In) != c.was {
			t.Errorf("%+v: became %#x, was %x", c, now, x.In)
		}
	}
	e := reach(t, a, b, Access{Verb: Atomic, Op: opSum, Type: 7, Key: 1, Out: word(5)})
	if e.Flags != flagAtomic|flagWrite {
		t.Errorf("without a result: %+v", e)
	}
	if got := binary.LittleEndian.Uint64(there); got != 5 {
		t.Errorf("a sum of %d", got)
	}
}

// More accesses than there is room for end, in both directions at once, and each answer comes.
func TestManyAccesses(t *testing.T) {
	a, b := pair(t)
	word := make([]byte, 8)
	word[0] = 1
	var sums [2][]byte
	for i, p := range []*party{a, b} {
		sums[i] = p.offer(t, 1, 8, RemoteWrite)
	}
	const many = 3 * maxAccesses
	for began := [2]int{}; began != [2]int{many, many}; {
		for i, p := range []*party{a, b} {
			x := Access{Verb: Atomic, Op: opSum, Type: 7, Key: 1, To: uint64(1 - i), Out: word}
			for began[i] < many && p.Access(&x) == ErrNone {
				began[i]++
			}
			p.Progress()
		}
	}
	waittest.Until(t, "all answers", func() bool {
		a.Progress()
		b.Progress()
		return a.counters.Writes.Ended == many && b.counters.Writes.Ended == many
	})
	for i := range sums {
		if got := binary.LittleEndian.Uint64(sums[i]); got != many {
			t.Errorf("a sum of %d", got)
		}
	}
}

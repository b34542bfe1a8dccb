package fabric

import (
	"bytes"
	"context"
	"testing"

	"weft/fabric/internal/ofi"
	"weft/internal/sys"
)

// pattern returns n bytes that begin in a way of their own.
func pattern(n, seed int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(seed + i + i>>8)
	}
	return b
}

// A peer that knows the key writes and reads memory that a rank offers, in a memfd and in Go's heap. The pieces have
// any length, and neither end's processor copies a long one.
func TestWindow(t *testing.T) {
	over(t, func(t *testing.T, provider string) {
		a, b, _ := ends(t, provider)
		const size = 3 << 20
		fd, shared, err := sys.NewMemory("weft test", size, false)
		if err != nil {
			t.Fatal(err)
		}
		defer sys.CloseFD(fd)
		keepLooking(t, b)
		for region, memory := range [][]byte{shared, make([]byte, size)} {
			testWindow(t, a, b, uint32(region+1), memory)
		}
	})
}

// keepLooking looks at a rank as a node does, until the test ends.
func keepLooking(t *testing.T, rank *Transport) {
	works := make(chan bool)
	go func() {
		for t.Context().Err() == nil {
			rank.soon(func() bool { return t.Context().Err() != nil })
		}
		close(works)
	}()
	t.Cleanup(func() { <-works })
}

func testWindow(t *testing.T, a, b *Transport, region uint32, memory []byte) {
	ctx := t.Context()
	const key = 0x0123456789abcdef
	if a.Reach(ctx, 1, region, key) != nil {
		t.Error("reached memory that was not offered")
	}
	b.Offer(region, key, memory, false)
	if a.Reach(ctx, 1, region, key+1) != nil {
		t.Error("reached memory with a wrong key")
	}
	w := a.Reach(ctx, 1, region, key)
	if w == nil {
		t.Fatal("the memory cannot be reached")
	}
	for i, size := range []int{1, 8, 500, mtu, mtu + 1, 100_001, 2 << 20} {
		at := 13 * (i + 1)
		want := pattern(size, i)
		if !w.Write(ctx, at, want) || !bytes.Equal(memory[at:at+size], want) {
			t.Fatalf("%d bytes are not in place", size)
		}
		back := make([]byte, size)
		if !w.Read(ctx, at, back) || !bytes.Equal(back, want) {
			t.Fatalf("%d bytes are read wrong", size)
		}
	}
	short := make([]byte, 64)
	if n := testing.AllocsPerRun(50, func() { w.Write(ctx, 0, short) }); n != 0 {
		t.Errorf("%v allocations per write", n)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if w.Write(ended, 0, short) {
		t.Error("written though the context has ended")
	}
	b.Retract(region)
	memory[0] = 7
	if w.Write(ctx, 0, short) || memory[0] != 7 {
		t.Error("written after the memory was taken back")
	}
	if a.Reach(ctx, 1, region, key) != nil {
		t.Error("reached memory that was taken back")
	}
}

// An access to the memory of a rank that is gone is not carried out, and ends.
func TestWindowOfTheDead(t *testing.T) {
	need(t)
	a, b, down := ends(t, one)
	b.Offer(1, 5, make([]byte, 1<<20), false)
	w := a.Reach(t.Context(), 1, 1, 5)
	if w == nil {
		t.Fatal("the memory cannot be reached")
	}
	b.vanish(true, true)
	buf := make([]byte, 1<<20)
	for w.Write(t.Context(), 0, buf) { // what the kernel has taken counts as written
	}
	<-down
	if w.Read(t.Context(), 0, buf) {
		t.Error("read from the dead")
	}
}

// The registrations of the program's memory are used again, the oldest gives way, and memory that is not Go's is
// registered for one access only.
func TestRegistry(t *testing.T) {
	need(t)
	a, _, _ := ends(t, one)
	a.mu.Lock()
	defer a.mu.Unlock()
	var r registry
	defer func() {
		for _, e := range r.entries {
			e.end()
		}
	}()
	use := func(b []byte) *ofi.Registration {
		e, err := r.get(a.end, b)
		if err != nil {
			t.Fatal(err)
		}
		r.put(e)
		return e.registered
	}
	first := make([]byte, 1<<16)
	whole := use(first)
	if use(first[100:200]) != whole || r.found != 1 || r.made != 1 {
		t.Errorf("a part of what is registered: %d found, %d made", r.found, r.made)
	}
	held, err := r.get(a.end, make([]byte, 1<<10))
	if err != nil {
		t.Fatal(err)
	}
	for range mostEntries {
		use(make([]byte, 1<<10))
	}
	if len(r.entries) != mostEntries || r.released != 2 || r.bytes != mostEntries<<10 || r.entries[0] != held {
		t.Errorf("%d entries of %d bytes, %d released", len(r.entries), r.bytes, r.released)
	}
	r.put(held)
	if use(first) == whole && r.made != mostEntries+3 {
		t.Error("what was released is still used")
	}
	arena, err := ofi.NewArena(1 << 16)
	if err != nil {
		t.Fatal(err)
	}
	defer arena.Close()
	n := len(r.entries)
	if use(arena.Take(1 << 15)); len(r.entries) != n {
		t.Error("memory that may be unmapped stays registered")
	}
}

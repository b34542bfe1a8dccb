package fabric

import (
	"bytes"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"weft/fabric/internal/ofi"
	"weft/internal/transport"
	"weft/internal/waittest"
)

// What libfabric and its providers do to the process that loads them, and what they ask of it. Each of these has been
// met.

// A nil pointer panics as ever. Some of Debian's providers take SIGSEGV when they are loaded, and end the process.
func TestNilStillPanics(t *testing.T) {
	need(t)
	if _, err := ofi.Providers("", ""); err != nil { // loads them all
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	var p *int
	*p = 1
}

// Packets are what they were, while the collector runs all the time, stacks are moved and memory is given back.
func TestCollectorRunning(t *testing.T) {
	need(t)
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	a, b, _ := ends(t, one)
	var in [8]transport.In
	got := 0
	pkt := make([]byte, 3000)
	var deep func(n int) int
	deep = func(n int) int { // moves the stack
		var block [256]byte
		if n == 0 {
			return int(block[0])
		}
		return deep(n-1) + int(block[1])
	}
	const packets = 400
	for n := 0; got < packets; {
		for i := range pkt {
			pkt[i] = byte(n)
		}
		if n < packets && a.Send([]transport.Out{{Peer: 1, Header: pkt[:7], Payload: pkt[7:]}}) == 1 {
			n++
		}
		done := make(chan int)
		go func() { done <- deep(n) }()
		k := b.Poll(in[:])
		if n%40 == 0 {
			debug.FreeOSMemory()
		}
		for _, p := range in[:k] {
			if want := bytes.Repeat([]byte{byte(got)}, len(pkt)); !bytes.Equal(p.Data, want) {
				t.Fatalf("packet %d is another", got)
			}
			got++
		}
		b.Release()
		<-done
	}
}

// The main module does not load libraries of C: its programs start in an empty container.
func TestMainModuleIsWithout(t *testing.T) {
	for _, name := range []string{"../go.mod", "../go.sum"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Skip("the sources are not here")
		}
		if strings.Contains(string(text), "purego") {
			t.Errorf("%s has purego", name)
		}
	}
}

// Memory that a program has unmapped, and mapped again at the same address, is written to a peer as it is now: a cache
// of registrations would send the pages that were there before.
func TestMappedAgain(t *testing.T) {
	over(t, func(t *testing.T, provider string) {
		a, b, _ := ends(t, provider)
		const size = 1 << 20
		memory := make([]byte, size)
		b.Offer(1, 5, memory, false)
		keepLooking(t, b)
		w := a.Reach(t.Context(), 1, 1, 5)
		if w == nil {
			t.Fatal("the memory cannot be reached")
		}
		at := uintptr(0)
		for round := range byte(3) {
			p, _, e := syscall.Syscall6(syscall.SYS_MMAP, at, size, syscall.PROT_READ|syscall.PROT_WRITE,
				syscall.MAP_ANON|syscall.MAP_PRIVATE, ^uintptr(0), 0)
			if e != 0 || at != 0 && p != at {
				t.Fatalf("mapped at %#x, not at %#x: %v", p, at, e)
			}
			at = p
			mine := unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), size)
			for i := range mine {
				mine[i] = round + 1
			}
			if !w.Write(t.Context(), 0, mine) || !bytes.Equal(memory, mine) {
				t.Errorf("round %d: the peer has %d, not %d", round, memory[size-1], mine[size-1])
			}
			syscall.Syscall(syscall.SYS_MUNMAP, at, size, 0)
		}
	})
}

// A sleeper is woken by a provider that has no descriptor, while nothing is sent for a long time.
func TestNoDescriptor(t *testing.T) {
	need(t)
	a, b, _ := ends(t, providers[0])
	if b.end.FD >= 0 {
		t.Skip("this version of the provider has one")
	}
	b.mu.Lock()
	b.duty.brisk = 0 // it has looked slowly for a while
	b.mu.Unlock()
	b.cfg.Bell.Set(transport.Asleep)
	b.Arm()
	b.mu.Lock()
	if b.duty.brisk == 0 {
		t.Error("the watch goes on looking slowly")
	}
	b.mu.Unlock()
	woke := make(chan struct{})
	go func() {
		for b.cfg.Bell.State() == transport.Asleep {
			b.cfg.Bell.Sleep(transport.Asleep, -1)
		}
		close(woke)
	}()
	waittest.Until(t, "a packet is taken", func() bool {
		return a.Send([]transport.Out{{Peer: 1, Header: []byte("weft")}}) == 1
	})
	<-woke
}

package fabric

import (
	"bytes"
	"os"
	"runtime/debug"
	"strings"
	"testing"

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

// A sleeper is woken by a provider that has no descriptor, while nothing is sent for a long time.
func TestNoDescriptor(t *testing.T) {
	need(t)
	a, b, _ := ends(t, providers[0])
	if b.end.FD >= 0 {
		t.Skip("this version of the provider has one")
	}
	b.cfg.Bell.Set(transport.Asleep)
	b.Arm()
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

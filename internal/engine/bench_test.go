package engine

import (
	"fmt"
	"testing"
	"time"

	"weft/internal/engine/link"
	"weft/internal/engine/rma"
	"weft/internal/mem"
)

// BenchmarkBulk is what weft's own code takes for a packet of a long PUSH between hosts, at each end: everything but
// system calls and the copy into the kernel. The receiver copies packets out of a buffer of 64 KiB, as the socket's is,
// into their place. Acknowledgements count at the end that makes or reads them.
func BenchmarkBulk(b *testing.B) {
	for _, guard := range []link.Guard{link.Checked, link.Tagged, link.Encrypted} {
		for _, mtu := range []int{1472, 8972} {
			b.Run(fmt.Sprintf("guard=%v/packet=%d", guard, mtu), func(b *testing.B) {
				w := newWire(b, guard, mtu)
				b.SetBytes(int64(len(w.push.Buf)))
				b.ReportAllocs()
				for b.Loop() {
					w.transfer(b)
				}
				for end, took := range w.took {
					b.ReportMetric(float64(took.Nanoseconds())/float64(w.packets), fmt.Sprintf("ns/packet-%s", ends[end]))
				}
			})
		}
	}
}

var ends = [2]string{"sender", "receiver"}

// A simpleWire carries packets between two engines, a batch at a time, and measures what each of them takes.
type simpleWire struct {
	*cluster
	push    *rma.Op
	buf     []byte           // the packets of a batch, one after the other
	took    [2]time.Duration // by each engine
	packets int              // that the first has sent
}

func newWire(b *testing.B, guard link.Guard, mtu int) *simpleWire {
	w := &simpleWire{cluster: &cluster{t: b, now: 1}, buf: make([]byte, 0, 64<<10)}
	for i := range 2 {
		e := New(Config{Rank: i, Size: 2, Job: 1, Secret: make([]byte, 32), Incarnation: uint64(i) + 1,
			Link: link.Config{Selective: true}, Rand: func() uint64 { return 1 }})
		e.Connect(w.now, 1-i, Path{MTU: mtu, Lossy: true, Guard: guard, Incarnation: uint64(2 - i)})
		w.engines = append(w.engines, e)
	}
	r, err := w.engines[1].RMA.Expose("r", mem.Aligned(1<<20), 0, false, 0, nil)
	if err != nil {
		b.Fatal(err)
	}
	w.push = &rma.Op{Kind: rma.Push, Peer: 1, Region: r.ID, Key: r.Key, Buf: make([]byte, 1<<20)}
	return w
}

// transfer pushes once, and waits until all is in place.
func (w *simpleWire) transfer(b *testing.B) {
	w.push.Done = false
	w.engines[0].RMA.Start(w.push)
	for idle := 0; !w.push.Done; idle++ {
		for from := range 2 {
			if w.carry(from) {
				idle = 0
			}
		}
		w.now = w.now.Add(10 * time.Microsecond)
		if idle > 10 {
			for _, e := range w.engines {
				e.Advance(w.now)
			}
		}
		if idle > 1e6 {
			b.Fatal("the push does not end")
		}
		w.engines[0].RMA.Finished()
	}
}

// carry moves a batch of packets from one engine to the other.
func (w *simpleWire) carry(from int) bool {
	var out [40]link.Packet
	began := time.Now()
	_, n, _ := w.engines[from].Output(w.now, out[:])
	w.took[from] += time.Since(began)
	if n == 0 {
		return false
	}
	w.buf = w.buf[:0]
	var lengths [len(out)]int
	for i, p := range out[:n] {
		w.buf = append(append(w.buf, p.Header...), p.Payload...)
		lengths[i] = len(p.Header) + len(p.Payload)
	}
	if from == 0 {
		w.packets += n
	}
	began = time.Now()
	w.engines[from].Taken(w.now, 1-from, n, n, out[:])
	w.took[from] += time.Since(began)
	began = time.Now()
	at := 0
	for _, n := range lengths[:n] {
		w.engines[1-from].Recv(w.now, From(link.Checked), w.buf[at:at+n])
		at += n
	}
	w.took[1-from] += time.Since(began)
	return true
}

package faulty

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"weft/internal/transport"
)

// A lossy transport notes what was sent.
type lossy struct {
	transport.Transport
	sent []string
	to   []int
}

func (l *lossy) Caps() transport.Caps    { return transport.Caps{Name: "lossy", MTU: 100} }
func (l *lossy) Poll([]transport.In) int { return 0 }
func (l *lossy) Send(pkts []transport.Out) int {
	for _, p := range pkts {
		l.sent = append(l.sent, string(p.Header)+string(p.Payload))
		l.to = append(l.to, p.Peer)
	}
	return len(pkts)
}

// through sends packets 0 to 999 through faults, and returns what left.
func through(f Faults, seed uint64) (sent []string, lost int64) {
	below := &lossy{}
	tr := New(below, f, seed, func() {})
	for i := range 1000 {
		tr.Send([]transport.Out{{Peer: 1, Header: fmt.Appendf(nil, "%03d", i), Payload: []byte("x")}})
	}
	for len(tr.held)+tr.late.count > 0 {
		tr.Poll(nil)
	}
	return below.sent, tr.Lost()
}

// Each fault does what its name says, and the seed decides when.
func TestFaults(t *testing.T) {
	all, _ := through(Faults{}, 1)
	if len(all) != 1000 || !slices.IsSorted(all) {
		t.Fatal("without faults packets do not pass as they are")
	}
	distinct := func(sent []string) int {
		sorted := slices.Sorted(slices.Values(sent))
		return len(slices.Compact(sorted))
	}
	sent, lost := through(Faults{Lose: 0.2}, 1)
	if lost == 0 || len(sent)+int(lost) != 1000 || !slices.IsSorted(sent) {
		t.Errorf("%d sent, %d lost", len(sent), lost)
	}
	if again, _ := through(Faults{Lose: 0.2}, 1); !slices.Equal(again, sent) {
		t.Error("the same seed loses other packets")
	}
	if other, _ := through(Faults{Lose: 0.2}, 2); slices.Equal(other, sent) {
		t.Error("another seed loses the same packets")
	}
	if sent, _ = through(Faults{Repeat: 0.2}, 1); len(sent) <= 1000 || distinct(sent) != 1000 {
		t.Errorf("%d sent, %d of them distinct", len(sent), distinct(sent))
	}
	if sent, _ = through(Faults{Reorder: 0.2}, 1); len(sent) != 1000 || distinct(sent) != 1000 || slices.IsSorted(sent) {
		t.Errorf("%d sent, sorted: %v", len(sent), slices.IsSorted(sent))
	}
	sent, _ = through(Faults{Damage: 0.2}, 1)
	if slices.ContainsFunc(sent, func(s string) bool { return len(s) != 4 }) {
		t.Error("a damaged packet has another length")
	}
	if slices.Equal(sent, all) || len(sent) != 1000 {
		t.Errorf("%d sent, none damaged", len(sent))
	}
}

// Delayed packets leave in order, after their time and not before, in batches; a timer rings for the first of them.
func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		below := &lossy{}
		var rung atomic.Int64
		tr := New(below, Faults{Delay: time.Millisecond}, 1, func() { rung.Add(1) })
		for i := range 1000 {
			tr.Send([]transport.Out{{Peer: 1, Header: fmt.Appendf(nil, "%03d", i), Payload: []byte("x")}})
			time.Sleep(10 * time.Microsecond)
			if tr.Poll(nil); len(below.sent) != max(i-98, 0) {
				after := time.Duration(i+1) * 10 * time.Microsecond
				t.Fatalf("%d packets have left %v after the first was sent", len(below.sent), after)
			}
		}
		before := rung.Load()
		time.Sleep(10 * time.Millisecond)
		if rung.Load() == before {
			t.Error("nothing rings for what is late")
		}
		tr.Poll(nil)
		all, _ := through(Faults{}, 1)
		if !slices.Equal(below.sent, all) {
			t.Errorf("%d packets have left, in order: %v", len(below.sent), slices.IsSorted(below.sent))
		}
		if before > 200 {
			t.Errorf("the timer has rung %d times within 10 ms, while packets left anyway", before)
		}
	})
}

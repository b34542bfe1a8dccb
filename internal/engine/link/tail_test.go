package link

import (
	"container/heap"
	"slices"
	"testing"
	"time"
)

// drop removes packets with these numbers from the network.
func (r *rig) drop(seqs ...uint32) {
	r.wire = slices.DeleteFunc(r.wire, func(f flight) bool { return f.to == 1 && slices.Contains(seqs, seqOf(f.pkt)) })
	heap.Init(&r.wire)
}

// offer hands n frames to end 0 and transmits them, whatever room the transport has.
func (r *rig) offer(n int) {
	r.ends[0].todo = n
	for c := r.ends[0].conn; r.ends[0].todo > 0 || c.send.next != c.send.tail; {
		r.send(0)
	}
}

// finish runs until end 1 has so many frames and end 0 knows it, and returns how long that took.
func (r *rig) finish(n uint64) time.Duration {
	r.t.Helper()
	start := r.now
	for r.ends[1].got < n || r.ends[0].conn.send.base != r.ends[0].conn.send.tail {
		if !r.step() {
			r.t.Fatalf("stuck: %s", r)
		}
	}
	return r.now.Sub(start)
}

// Whatever is lost at the end of a message comes soon after, without a timeout, and what was not lost is not sent
// again.
func TestTail(t *testing.T) {
	for name, lost := range map[string][]uint32{
		"the last": {10}, "the last three": {8, 9, 10}, "all": {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, "first and last": {1, 10},
	} {
		r := newRig(t, 1, Config{Selective: true, RTOMin: 50 * time.Millisecond}, faults{})
		r.run(1, 1)
		r.offer(10)
		r.drop(lost...)
		took := r.finish(11)
		s := r.ends[0].conn.counts
		if took > 2*time.Millisecond || s.Sent.Lost != 0 || s.Sent.Resent != uint64(len(lost)) {
			t.Errorf("%s lost: it took %v; %s", name, took, r)
		}
	}
}

// If the peer keeps the last packet, and a repeated one gets lost, that one is sent again.
func TestTailThatIsKept(t *testing.T) {
	r := newRig(t, 1, Config{Selective: true, RTOMin: 50 * time.Millisecond}, faults{})
	r.run(1, 1)
	r.offer(3)
	r.drop(2)
	for c := r.ends[0].conn; c.counts.Sent.Resent == 0; {
		r.step()
		r.send(0)
	}
	r.drop(2)
	took := r.finish(4)
	if s := r.ends[0].conn.counts; took > 2*time.Millisecond || s.Sent.Lost != 0 || s.Sent.Resent != 2 {
		t.Errorf("it took %v; %s", took, r)
	}
}

// On a path that has suddenly become a thousand times as long, few packets are sent again for nothing, although no
// packet that was sent twice measures a round trip.
func TestTailOfALongerPath(t *testing.T) {
	r := newRig(t, 1, Config{Selective: true, RTOMin: 50 * time.Millisecond}, faults{})
	r.run(100, 0)
	for i := range uint64(100) {
		r.offer(1)
		for j := range r.wire {
			r.wire[j].at = r.now.Add(10 * time.Millisecond)
		}
		r.finish(101 + i)
	}
	if s := r.ends[0].conn.counts; s.Sent.Resent > 8 || s.Sent.Lost != 0 {
		t.Errorf("%s", r)
	}
}

// Go-back-N is as the paper has it: the timeout finds what is lost at the end.
func TestTailOfGoBackN(t *testing.T) {
	r := newRig(t, 1, Config{RTOMin: 50 * time.Millisecond}, faults{})
	r.run(1, 1)
	r.offer(10)
	r.drop(10)
	took := r.finish(11)
	if s := r.ends[0].conn.counts; took < 50*time.Millisecond || s.Sent.Lost != 1 || s.Sent.Resent != 1 {
		t.Errorf("it took %v; %s", took, r)
	}
}

package rma

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"weft/failure"
	"weft/internal/engine/wire"
	"weft/internal/mem"
)

// So many operations are under way at one peer, the next ones wait in order, and
// those at another peer do not wait for them.
func TestOutstanding(t *testing.T) {
	d := newRig(t)
	var ops []*Op
	for i := range maxOutstanding + 3 {
		op := &Op{Kind: Pull, Peer: 1, Off: uint64(i), Buf: make([]byte, 1)}
		ops = append(ops, op)
		d.layer.Start(op)
	}
	begun, _ := d.take(1)
	if len(begun) != maxOutstanding {
		t.Fatalf("%d have begun", len(begun))
	}
	d.layer.Start(&Op{Kind: Pull, Peer: 2, Buf: make([]byte, 1)})
	if other, _ := d.take(2); len(other) != 1 {
		t.Errorf("%d at another peer", len(other))
	}
	q := d.queues[1]
	last := q.Last()
	if q.Follows(last) || q.Follows(last-2) || !q.Follows(last-3) {
		t.Error("what must follow those that wait may go, or what need not may not")
	}
	if ok, begun := d.layer.Cancel(ops[maxOutstanding+1]); !ok || begun {
		t.Errorf("one that waits is cancelled: %v, begun %v", ok, begun)
	}
	answer := func(b []byte, want ...uint64) {
		t.Helper()
		f, err := wire.ParsePull(b)
		if err != nil {
			t.Fatal(err)
		}
		d.says(1, append(wire.Pulled{End: true, Op: f.Op}.Append(nil), 7))
		var got []uint64
		more, _ := d.take(1)
		for _, b := range more {
			f, _ := wire.ParsePull(b)
			got = append(got, f.Off)
		}
		if !slices.Equal(got, want) {
			t.Errorf("then begin those at %v, want %v", got, want)
		}
	}
	answer(begun[5], maxOutstanding)
	if q.Follows(last) || !q.Follows(last-2) {
		t.Error("one has begun, and another still waits")
	}
	if ok, had := d.layer.Cancel(ops[0]); !ok || !had {
		t.Errorf("one that has begun is cancelled: %v, begun %v", ok, had)
	}
	if more, _ := d.take(1); len(more) != 1 || !q.Follows(last) {
		t.Errorf("%d begin when one is cancelled", len(more))
	}
	d.says(1, append(wire.Pulled{End: true, Op: ops[0].id}.Append(nil), 7)) // its answer comes late
	if d.layer.Stats.Dropped != 1 {
		t.Errorf("%d answers were dropped", d.layer.Stats.Dropped)
	}
	if ok, _ := d.layer.Cancel(ops[5]); ok {
		t.Error("one that has ended was cancelled")
	}
	d.layer.Down(1, &failure.PeerError{Rank: 1})
	ended := 0
	for op := d.layer.Finished(); op != nil; op = d.layer.Finished() {
		ended++
	}
	if ended != maxOutstanding+1 || len(d.layer.Unfinished()) != 1 {
		t.Errorf("%d have ended; left: %v", ended, d.layer.Unfinished())
	}
}

// The number of an operation that is over is not that of the next one in its place.
func TestLateAnswers(t *testing.T) {
	d := newRig(t)
	old := &Op{Kind: Pull, Peer: 1, Buf: make([]byte, 1)}
	d.layer.Start(old)
	id := old.id
	d.layer.Cancel(old)
	op := &Op{Kind: Pull, Peer: 1, Buf: make([]byte, 1)}
	d.layer.Start(op)
	if d.says(1, append(wire.Pulled{End: true, Op: id}.Append(nil), 7)); op.Done || op.id == id {
		t.Error("the answer to the first was taken for that of the second")
	}
	if d.says(1, append(wire.Pulled{End: true, Op: op.id}.Append(nil), 8)); !op.Done || op.Buf[0] != 8 {
		t.Error("the answer was not taken")
	}
}

// A peer that asks for more than it may, and takes no answers, gets none beyond a
// bound; every so many answers wake it.
func TestAnswers(t *testing.T) {
	d := newRig(t)
	for i := range uint32(maxAnswers + 10) {
		d.says(1, wire.Flush{Op: i}.Append(nil))
	}
	answers, wake := d.take(1)
	if len(answers) != maxAnswers+1 || wake != (maxAnswers+1)/(maxOutstanding/2) || d.layer.Stats.Refused != 9 {
		t.Errorf("%d answers, of which %d wake; %d were refused", len(answers), wake, d.layer.Stats.Refused)
	}
	d.says(1, wire.Flush{}.Append(nil))
	if answers, _ = d.take(1); len(answers) != 1 {
		t.Error("it takes answers again, and gets none")
	}
}

// What else waits to be sent to a peer does not count: its requests are served however much that is.
func TestAnswersBesideMessages(t *testing.T) {
	d := newRig(t)
	q := d.layer.peer(1).q
	for range 2 * maxAnswers {
		q.Push((&wire.Data{Channel: 1, Total: 8}).Append(q.Head()), make([]byte, 8), false)
	}
	d.says(1, wire.Flush{Op: 1}.Append(nil))
	if answers, _ := d.take(1); len(answers) != 2*maxAnswers+1 || d.layer.Stats.Refused != 0 {
		t.Errorf("%d frames leave, %d requests are refused", len(answers), d.layer.Stats.Refused)
	}
}

// So many wait for regions that nobody has exposed, and no more.
func TestPendingAttaches(t *testing.T) {
	d := newRig(t)
	attach := func(from int, op uint32, name string) []byte {
		d.says(from, append(wire.Attach{Op: op}.Append(nil), name...))
		frames, _ := d.take(from)
		if len(frames) == 0 {
			return nil
		}
		return frames[0]
	}
	for i := range uint32(maxAttaches) {
		if b := attach(1+int(i%2), i, fmt.Sprint("r", i%8)); b != nil {
			t.Fatalf("wish %d is answered: %s", i, wire.Describe(b))
		}
	}
	if b := attach(3, 9, "r0"); b == nil {
		t.Error("one wish too many waits")
	}
	if _, err := d.layer.Expose("r1", mem.Aligned(8), 0, false, 0, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := d.layer.Expose("r1", mem.Aligned(8), 0, false, 0, nil); !errors.Is(err, failure.ErrInUse) {
		t.Errorf("exposed twice: %v", err)
	}
	one, _ := d.take(1)
	two, _ := d.take(2)
	if len(one)+len(two) != maxAttaches/8 {
		t.Errorf("%d are answered", len(one)+len(two))
	}
	if b := attach(3, 9, "r0"); b != nil {
		t.Error("there is room for wishes again")
	}
	d.layer.Down(1, &failure.PeerError{Rank: 1})
	room := maxAttaches/8 - 1 + maxAttaches/2 // r1 was asked for by rank 2; all of rank 1 are gone
	for i := range uint32(room + 1) {
		if b := attach(2, i, "r3"); (b != nil) != (int(i) == room) {
			t.Fatalf("wish %d of %d for which there is room is refused: %v", i, room, b != nil)
		}
	}
}

// What a region's bounds are, on both sides.
func TestBounds(t *testing.T) {
	for _, c := range []struct {
		off, n, size int
		ok           bool
	}{
		{0, 8, 8, true}, {0, 9, 8, false}, {1, 8, 8, false}, {8, 0, 8, true}, {9, 0, 8, false}, {-1, 1, 8, false},
		{7, 1, 8, true}, {8, 1, 8, false},
		{1 << 62, 1 << 62, 8, false}, {0, 0, 0, true},
	} {
		err := failure.CheckRange(c.off, c.n, c.size)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, failure.ErrBounds) {
			t.Errorf("%d bytes at %d of %d: %v", c.n, c.off, c.size, err)
		}
	}
	for _, c := range []struct {
		off, size int
		want      error
	}{
		{0, 8, nil}, {8, 16, nil}, {8, 15, failure.ErrBounds}, {4, 16, failure.ErrMisaligned},
		{1, 16, failure.ErrMisaligned}, {-8, 16, failure.ErrBounds},
	} {
		update := Op{Kind: Push, Off: uint64(c.off), Code: wire.CodeAdd, Buf: make([]byte, 8)}
		if err := errors.Join(CheckWord(c.off, c.size), update.Check(c.size)); !errors.Is(err, c.want) {
			t.Errorf("a word at %d of %d: %v", c.off, c.size, err)
		}
	}
}

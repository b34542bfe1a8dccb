package link

import (
	"fmt"
	"testing"

	"weft/internal/engine/wire"
)

// pieces returns what the next packets of a queue hold, in so many bytes each: offset,
// length, and whether it is the last of its frame.
func pieces(q *Queue, max int) (list []string) {
	for {
		head, payload, _, ok := q.Next(max, true)
		if !ok {
			return list
		}
		f, _, err := wire.ParsePush(append(append([]byte(nil), head...), payload...))
		if err != nil {
			return append(list, err.Error())
		}
		text := fmt.Sprintf("%d+%d", f.Off, len(payload))
		if f.End {
			text += " end"
		}
		list = append(list, text)
		q.Sent(len(payload))
	}
}

func push(q *Queue, op uint32, off uint64, payload []byte) {
	q.Push(wire.Push{End: true, Op: op, Off: off}.Append(q.Head()), payload, true)
}

// A frame is cut where a packet is full, and not before.
func TestCut(t *testing.T) {
	for n, want := range map[int]string{
		0: "[7+0 end]", 9: "[7+9 end]", 10: "[7+10 end]", 11: "[7+10 17+1 end]", 20: "[7+10 17+10 end]",
		21: "[7+10 17+10 27+1 end]",
	} {
		q := NewQueue(1, new(Active))
		push(q, 1, 7, make([]byte, n))
		if got := fmt.Sprint(pieces(q, wire.PushSize+10)); got != want {
			t.Errorf("%d bytes, 10 in a packet: %s, want %s", n, got, want)
		}
	}
}

// What is dropped or detached does not leave, and everything else does, in order.
func TestQueueFilters(t *testing.T) {
	a := make([]byte, 4, 8)
	b := make([]byte, 3)
	for name, c := range map[string]struct {
		filter func(q *Queue) string
		left   string
	}{
		"one operation": {func(q *Queue) string { return fmt.Sprint(q.Drop(wire.TypePush, 2)) },
			"true[0+4 end 2+4 end 3+3 end]"},
		"another type": {func(q *Queue) string { return fmt.Sprint(q.Drop(wire.TypePull, 2)) },
			"false[0+4 end 1+3 end 2+4 end 3+3 end]"},
		"none": {func(q *Queue) string { return fmt.Sprint(q.Drop(wire.TypePush, 9)) },
			"false[0+4 end 1+3 end 2+4 end 3+3 end]"},
		"an array": {func(q *Queue) string { return fmt.Sprint(q.Detach(a[1:2])) }, "[1 3][1+3 end 3+3 end]"},
		"nobody's array": {func(q *Queue) string { return fmt.Sprint(q.Detach(make([]byte, 4))) },
			"[][0+4 end 1+3 end 2+4 end 3+3 end]"},
		"no array": {func(q *Queue) string { return fmt.Sprint(q.Detach(nil)) }, "[][0+4 end 1+3 end 2+4 end 3+3 end]"},
		"all":      {func(q *Queue) string { q.Clear(); return "" }, "[]"},
	} {
		q := NewQueue(1, new(Active))
		for range 3 { // so that its ring has gone round
			push(q, 0, 0, nil)
		}
		pieces(q, 1000)
		for i, payload := range [][]byte{a, b, a[:4:8], b} {
			push(q, uint32(i+1), uint64(i), payload)
		}
		if got := c.filter(q) + fmt.Sprint(pieces(q, 1000)); got != c.left {
			t.Errorf("%s: %s, want %s", name, got, c.left)
		}
	}
}

// Queues take turns, and each is on the list once.
func TestActive(t *testing.T) {
	var active Active
	queues := []*Queue{NewQueue(0, &active), NewQueue(1, &active), NewQueue(2, &active)}
	active.Rotate()
	for range 2 {
		for _, q := range queues {
			push(q, 1, 0, nil)
		}
	}
	var order []int
	for range 4 {
		order = append(order, active.First().Rank)
		active.Rotate()
	}
	for !active.Empty() {
		order = append(order, active.Remove().Rank)
	}
	if got := fmt.Sprint(order); got != "[0 1 2 0 1 2 0]" || active.First() != nil {
		t.Errorf("in order %s", got)
	}
	push(queues[1], 1, 0, nil)
	active.Rotate()
	if active.First() != queues[1] {
		t.Error("the only queue is not the first")
	}
}

// A lane has room for so many frames of up to so many bytes.
type lane struct{ room, took int }

func (l *lane) Push(header, payload []byte, urgent bool) bool {
	if l.room == 0 {
		return false
	}
	l.room--
	l.took += len(header) + len(payload)
	return true
}

// A frame goes through the lane if it fits into a packet, there is room, and nothing
// waits before it.
func TestLane(t *testing.T) {
	q := NewQueue(1, new(Active))
	l := &lane{room: 2}
	q.Through(l, wire.PushSize+10)
	for _, c := range []struct{ size, waits int }{{10, 0}, {11, 1}, {10, 2}} {
		if push(q, 1, 0, make([]byte, c.size)); q.Len() != c.waits {
			t.Errorf("%d bytes: %d frames wait, want %d", c.size, q.Len(), c.waits)
		}
	}
	pieces(q, 1000)
	for _, waits := range []int{0, 1, 2} { // the second finds no room
		if push(q, 1, 0, nil); q.Len() != waits {
			t.Errorf("%d frames wait, want %d", q.Len(), waits)
		}
		l.room *= q.Len() + 1
	}
	if s := q.Counts.Sent; s.Packets != 2 || int(s.Bytes) != l.took {
		t.Errorf("counts %d packets and %d bytes of %d", s.Packets, s.Bytes, l.took)
	}
	q.Through(nil, 0)
	if pieces(q, 1000); q.Direct(q.Head(), nil, false) {
		t.Error("it went through a lane that there is not")
	}
}

// What must follow operations that wait enters when they have, also where their
// numbers wrap.
func TestFollows(t *testing.T) {
	for _, first := range []uint32{0, ^uint32(0) - 1} {
		q := NewQueue(1, new(Active))
		resumed := 0
		q.Resume = func() { resumed++ }
		q.turn = first
		q.entered = first
		before := q.Last()
		one := q.Wait()
		two := q.Wait()
		for _, c := range []struct {
			entered uint32
			follows [3]bool
		}{{before, [3]bool{true, false, false}}, {one, [3]bool{true, true, false}}, {one, [3]bool{true, true, false}}, {two,
			[3]bool{true, true, true}}} {
			q.Entered(c.entered)
			if got := [3]bool{q.Follows(before), q.Follows(one), q.Follows(two)}; got != c.follows {
				t.Errorf("from %d on, entered up to %d: %v, want %v", first, c.entered, got, c.follows)
			}
		}
		if resumed != 2 || q.Last() != two {
			t.Errorf("resumed %d times", resumed)
		}
	}
}

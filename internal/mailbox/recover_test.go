package mailbox

import (
	"bytes"
	"fmt"
	"testing"

	"weft/internal/mem"
)

// A victim is a sender that writes messages one instruction that others can see after
// the other, and so can be killed before any.
type victim struct {
	s    *Writer
	n    int
	tag  uint64
	pos  uint64
	t    uint32
	done bool // its record can be seen
}

const victims = 2

// steps are a message of a ring, and inline those of one in its record.
func (v *victim) steps(t *testing.T) []func() {
	b := v.s.b
	seen := uint32(b.head.Load())
	return []func(){
		v.s.Lock,
		func() {
			if !b.promise(&seen) {
				t.Fatal("no record")
			}
		},
		func() {
			var ok bool
			if v.pos, ok = v.s.reserve(0, v.n); !ok {
				t.Fatal("no room")
			}
		},
		func() { b.write(0, v.pos, 0, letter(v.tag, v.n)[:v.n/2]) },
		func() { b.write(0, v.pos, v.n/2, letter(v.tag, v.n)[v.n/2:]) },
		func() { v.t = b.ticket() },
		func() {
			r := Record{From: v.s.rank, Tag: v.tag, Extent: Extent{0, v.pos, v.n}, Total: v.n, Last: true}
			b.publish(v.t, &r, 0, nil)
			v.done = true
		},
		v.s.Unlock,
	}
}

func (v *victim) inline(t *testing.T) []func() {
	b := v.s.b
	seen := uint32(b.head.Load())
	return []func(){
		v.s.Lock,
		func() {
			var ok bool
			if v.t, ok = b.ticketNow(&seen); !ok {
				t.Fatal("no record")
			}
		},
		func() {
			r := Record{From: v.s.rank, Tag: v.tag, Extent: Extent{Len: 8}, Last: true}
			b.publish(v.t, &r, flagInline, letter(v.tag, 8))
			v.done = true
		},
		v.s.Unlock,
	}
}

// Two senders die wherever they may, in the middle of messages of others: what they
// had reserved comes back, and nothing else does; what they had completed arrives.
func TestRecoverAtEveryStep(t *testing.T) {
	for _, inline := range []bool{false, true} {
		for _, n := range [victims]int{64, 300} {
			for first := range 9 {
				for second := range 9 {
					t.Run(fmt.Sprint(inline, n, first, second), func(t *testing.T) {
						c := newRecovery(t)
						c.dieAt(inline, n, [victims]int{first, second})
						c.tell(5)
						c.end()
					})
					t.Run(fmt.Sprint(inline, n, first, second, "fill"), func(t *testing.T) {
						c := newRecovery(t)
						c.dieAt(inline, n, [victims]int{first, second})
						c.fill()
						c.take()
						c.fill()
						c.end()
					})
				}
			}
		}
	}
}

// dieAt lets two senders die, each after a number of its steps, and recovers the mailbox.
func (c *recovery) dieAt(inline bool, n int, until [victims]int) {
	c.engineBegins()
	c.victimsWrite(inline, n, until)
	c.recover()
}

// recoverySize is the size of the ring of a recovery.
const recoverySize = 2048

// A recovery is a mailbox whose ring several writers share: a sender that lives, the owner's
// engine, and victims, of which each may die in the middle of a message.
type recovery struct {
	*testing.T
	b      *Box
	r      *Reader
	alive  *Writer
	owner  *Writer
	engine Arrival         // the message that the owner's engine writes
	loans  []Record        // the messages that the reader has taken and not given back
	want   map[uint64]bool // the messages that have been sent and not taken
	next   uint64          // the tag of the next message with which fill fills the ring
	busy   bool            // the second victim is in the middle of a message
}

// newRecovery returns a mailbox from which the reader has taken two messages: the first is on
// loan, the second was released before it, so Head cannot move over it yet. A third one waits.
func newRecovery(t *testing.T) *recovery {
	b, r := newBox(t, 16, []int{recoverySize}, 0, 0, 0)
	b.begin(0, 3*64)
	c := &recovery{T: t, b: b, r: r, alive: join(t, b, 0), owner: b.Owner(), want: map[uint64]bool{}, next: 100}
	c.tell(1)
	c.tell(2)
	c.tell(3)
	var first, second Record
	r.Take(&first)
	r.Done()
	r.Take(&second)
	r.Done()
	r.Release(second.Extent)
	c.loans = []Record{first}
	delete(c.want, 1)
	delete(c.want, 2)
	return c
}

// tell has the sender that lives send a message.
func (c *recovery) tell(tag uint64) {
	if sent, _, o := c.alive.Push(NoRing, Auto, tag, letter(tag, 100), 0); sent != 100 || o != Done {
		c.Fatal(sent, o)
	}
	c.want[tag] = true
}

// engineBegins has the owner's engine reserve the room of a message, as it does for the first
// packet of one.
func (c *recovery) engineBegins() {
	c.b.SetRing(2, NoRing)
	c.engine = Arrival{From: 2, Tag: 50, Total: 200}
	if o := c.owner.Begin(&c.engine, 0, PerPacket); o != Done || c.owner.hold(0, 200, &c.engine.pos) != Done {
		c.Fatal("no room for the engine")
	}
	c.engine.open = true
}

// victimsWrite lets the victims write a message each, step by step in turn, and each die after
// a number of them.
func (c *recovery) victimsWrite(inline bool, n int, until [victims]int) {
	var dead [victims]*victim
	var steps [victims][]func()
	for i := range dead {
		dead[i] = &victim{s: join(c.T, c.b, 1+i), n: [victims]int{n, 364 - n}[i], tag: uint64(10 + i)}
		if inline && i == 1 {
			steps[i] = dead[i].inline(c.T)
		} else {
			steps[i] = dead[i].steps(c.T)
		}
		until[i] = min(until[i], len(steps[i]))
	}
	for k := range 9 {
		for i, v := range dead {
			if k < until[i] {
				was := v.done
				steps[i][k]()
				if v.done && !was {
					c.want[v.tag] = true
				}
			}
		}
		if k == 3 {
			// Nobody has read what comes behind a record that is not there yet.
			c.tell(4)
		}
	}
	c.busy = until[1] > 0 && until[1] < len(steps[1])
}

// recover recovers the mailbox when one victim is dead, which is possible unless the other is
// in the middle of a message, and then when both are.
func (c *recovery) recover() {
	one := func(rank, _ int, _ bool) bool { return rank == 1 }
	if done := c.r.Recover(one, []*Arrival{&c.engine}); done == c.busy {
		c.Fatalf("recovered: %v, with a living sender busy: %v", done, c.busy)
	}
	both := func(rank, _ int, _ bool) bool { return rank > 0 }
	if !c.r.Recover(both, []*Arrival{&c.engine}) {
		c.Fatal("not recovered")
	}
	c.b.Senders(func(rank int) {
		if rank != 0 {
			c.Errorf("rank %d has still a line", rank)
		}
	})
}

// fill gives back what is on loan, and sends until the ring is full. This overwrites a message
// that was given back too early.
func (c *recovery) fill() {
	c.release()
	for tag := c.next; ; tag++ {
		if _, _, o := c.alive.Push(NoRing, Auto, tag, letter(tag, 100), 0); o != Done {
			c.next = tag
			return
		}
		c.want[tag] = true
	}
}

// take takes what has arrived, which is each wanted message once.
func (c *recovery) take() {
	var rec Record
	for c.r.Take(&rec) {
		if !c.want[rec.Tag] {
			c.Errorf("message %d has arrived, which nobody has completed, or twice", rec.Tag)
		}
		delete(c.want, rec.Tag)
		c.r.Done()
		c.loans = append(c.loans, rec)
	}
	for tag := range c.want {
		c.Errorf("message %d has not arrived", tag)
	}
}

// release gives back what is on loan, which is still whole.
func (c *recovery) release() {
	for _, rec := range c.loans {
		if got := c.r.text(&rec); !bytes.Equal(got, letter(rec.Tag, rec.Total)) {
			c.Errorf("message %d: %x", rec.Tag, got)
		}
		if !rec.InRecord {
			c.r.Release(rec.Extent)
		}
	}
	c.loans = nil
}

// end lets the engine write its message. When all is taken and given back, all of the ring can be used.
func (c *recovery) end() {
	if o := c.owner.Add(&c.engine, letter(50, 200)); o != Done {
		c.Fatal(o)
	}
	c.want[50] = true
	c.take()
	c.release()
	empty(c.T, c.b, c.r)
	push(c.T, c.alive, PerPacket, 6, recoverySize, Done)
	for i := range uint64(15) {
		push(c.T, c.alive, Auto, 7+i, 8, Done)
	}
}

// A sender that is only away, and may write yet, is waited for.
func TestRecoverWaits(t *testing.T) {
	b, r := newBox(t, 8, []int{512}, 0, 0)
	s := join(t, b, 0)
	other := join(t, b, 1)
	s.Lock()
	gone := func(rank, _ int, busy bool) bool { return rank == 0 && !busy }
	if r.Recover(gone, nil) {
		t.Error("recovered from a sender that may be writing")
	}
	a := Arrival{Tag: 1, Total: 100}
	if o := s.Begin(&a, NoRing, PerPacket); o != Done {
		t.Fatal(o)
	}
	if o := s.Add(&a, letter(1, 100)); o != Done {
		t.Fatal(o)
	}
	s.Unlock()
	if !r.Recover(gone, nil) {
		t.Error("not recovered from a sender that is not writing")
	}
	push(t, other, Auto, 2, 100, Done)
	var rec Record
	for want := uint64(1); want <= 2; want++ {
		if !r.Take(&rec) || rec.Tag != want || !bytes.Equal(r.text(&rec), letter(want, 100)) {
			t.Errorf("%+v, not message %d", rec, want)
		}
		r.Done()
		r.Release(rec.Extent)
	}
	empty(t, b, r)
}

// What had been released behind what a dead sender had reserved is not released again.
func TestRecoverMovesOverReleased(t *testing.T) {
	g := Geometry{Ranks: 2, Lines: 3, Rings: 1, Slots: 16, Room: 1024}
	b, err := New(mem.Aligned(g.Size()), g)
	if err != nil {
		t.Fatal(err)
	}
	b.Shut(0)
	b.Place(0, 0, 1024)
	b.SetRing(0, 0)
	b.SetRing(1, 0)
	r := NewReader(b)
	victim, _ := b.Join(0, 1)
	other, _ := b.Join(1, 1)
	victim.Lock()
	if _, ok := victim.reserve(0, 64); !ok {
		t.Fatal("no room")
	}
	for range 3 {
		if _, _, o := other.Push(NoRing, Auto, 0, make([]byte, 100), 0); o != Done {
			t.Fatal(o)
		}
		var rec Record
		if !r.Take(&rec) {
			t.Fatal("nothing has come")
		}
		r.Done()
		r.Release(rec.Extent)
	}
	if !r.Recover(func(rank, _ int, _ bool) bool { return rank == 0 }, nil) {
		t.Fatal("not recovered")
	}
	if _, bytes := b.Reserved(); bytes[0] != 0 {
		t.Errorf("%d bytes are reserved", bytes[0])
	}
	for _, w := range r.rings[0].released {
		if w != 0 {
			t.Errorf("what nobody has reserved counts as released: %b", w)
		}
	}
}

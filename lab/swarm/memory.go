package swarm

import (
	"encoding/binary"
	"errors"

	"weft/failure"
	"weft/internal/engine/rma"
	"weft/internal/mem"
)

// An area is the region of one incarnation. It begins with words for atomic
// operations. Then each rank has slots that only it writes, with gaps between
// them that no rank writes.
//
// Every word of a slot says which write it comes from, and that it belongs
// there. So each can be judged alone: it is of no write before the last one
// that is known to be in place, of none that has not begun, and is what that
// one wrote.
type area struct {
	owner incarnation
	key   uint64
	bytes []byte
	slots [][]*slot // by writer
	words [words]history
}

// A slot is what one rank writes in one go.
type slot struct {
	area   *area
	writer int
	salt   uint64 // makes its words unlike those of others
	off    int
	size   int
	begun  uint32 // writes begun
	placed uint32 // writes that are in place
	undone uint32 // the last one that was given up
}

// gap is how many bytes before and after each slot belong to no writer. They must stay zero.
const gap = 8

// slotSizes are the bytes of the slots that each writer has: one word, the most that a PUT holds, and lengths
// that take one packet or several.
var slotSizes = [...]int{8, 32, 256, 3000, 9000}

// regionName is under which every rank exposes its area.
const regionName = "swarm"

// expose makes the region of a node: some words for atomic operations, then for every rank a slot of each size,
// with a gap before each. A slot has one writer, so the model knows what it may hold. The salt makes the content of
// every slot of every incarnation different.
func (n *node) expose() {
	a := &area{owner: n.incarnation}
	off := 8 * words
	for w := range n.c.Nodes {
		var slots []*slot
		for _, size := range slotSizes {
			off += gap
			salt := uint64(n.rank)<<24 | uint64(n.boot)<<16 | uint64(w)<<8 | uint64(size%251)
			slots = append(slots, &slot{area: a, writer: w, off: off, size: size, salt: salt * 0x9e3779b97f4a7c15})
			off += size
		}
		a.slots = append(a.slots, slots)
	}
	a.bytes = mem.Aligned(off + gap)
	n.area = a
	n.c.areas = append(n.c.areas, a)
	r, err := n.eng.RMA.Expose(regionName, a.bytes, 0, false, 0, nil)
	n.check("Expose", err)
	a.key = r.Key
}

// A remote is the area of a peer, as far as it is known.
type remote struct {
	state attachment
	found rma.Found
	area  *area
}

// An attachment is how far a node has come with the region of another one.
type attachment int

const (
	unknown attachment = iota
	attaching
	attached
)

// attach asks a rank for its region. The region that is found must be one that some incarnation of the rank has
// exposed.
func (n *node) attach(rank int) {
	r := &n.remotes[rank]
	r.state = attaching
	op := &rma.Op{Kind: rma.Attach, Peer: rank, Name: regionName}
	n.run(op, func() {
		r.state = unknown
		if !n.check("Attach", op.Err) {
			return
		}
		for _, a := range n.c.areas { // the key tells which incarnation answered
			if a.key == op.Found.Key {
				r.state = attached
				r.found = op.Found
				r.area = a
			}
		}
		if r.state != attached {
			n.c.fail("refusal", "rank %d attached to a region of rank %d that was never exposed", n.rank, rank)
		}
	}, func() { r.state = unknown })
}

// word returns word i of write gen of a slot.
func (s *slot) word(gen uint32, i int) uint64 {
	if gen == 0 {
		return 0
	}
	h := s.salt + uint64(i)<<24 + uint64(gen)
	h = (h ^ h>>29) * 0xbf58476d1ce4e5b9
	return uint64(gen)<<40 | h>>24
}

// next returns the bytes of the next write.
func (s *slot) next() (gen uint32, b []byte) {
	s.begun++
	b = make([]byte, s.size)
	for i := 0; i < s.size/8; i++ {
		binary.LittleEndian.PutUint64(b[8*i:], s.word(s.begun, i))
	}
	return s.begun, b
}

// judge checks bytes read from a slot.
func (s *slot) judge(n *node, what string, b []byte, placed uint32) {
	for i := 0; i < s.size/8; i++ {
		v := binary.LittleEndian.Uint64(b[8*i:])
		gen := uint32(v >> 40)
		if gen >= placed && gen <= s.begun && v == s.word(gen, i) {
			continue
		}
		switch {
		case v != s.word(gen, i) && s.torn(v, i, placed):
		case v != s.word(gen, i) || gen > s.begun:
			n.c.fail("memory", "%s: word %d of slot %d of rank %d at rank %d holds %#x, which nobody wrote there",
				what, i, s.size, s.writer, s.area.owner.rank, v)
		case gen < placed:
			kind := "completion"
			if what == arrival {
				kind = "order"
			}
			n.c.fail(kind, "%s: word %d of slot %d of rank %d at rank %d is of write %d, and write %d is in place",
				what, i, s.size, s.writer, s.area.owner.rank, gen, placed)
		}
	}
}

// torn reports whether each byte of a word is of some write that may be in place:
// packets do not end at words.
func (s *slot) torn(v uint64, i int, placed uint32) bool {
	left := ^uint64(0) // bytes not yet found
	for gen := placed; gen <= s.begun && left != 0; gen++ {
		differ := v ^ s.word(gen, i)
		for bits := 0; bits < 64; bits += 8 {
			if differ>>bits&0xff == 0 {
				left &^= 0xff << bits
			}
		}
	}
	return left == 0
}

// arrival says when a write was checked, for the error of a write that had to be in place and was not.
const arrival = "when a message arrived that was sent after a write"

// now returns what the slot holds.
func (s *slot) now() []byte { return s.area.bytes[s.off : s.off+s.size] }

// done notes that a write is in place, and looks.
func (s *slot) done(n *node, gen uint32) {
	s.placed = max(s.placed, gen)
	s.judge(n, "when a write had ended", s.now(), s.placed)
}

func (s *slot) drop(gen uint32) { s.undone = max(s.undone, gen) }

// alive reports whether the area's owner still runs.
func (a *area) alive(c *cluster) bool {
	n := c.nodes[a.owner.rank]
	return n != nil && n.area == a
}

// pick returns one of this node's slots in a region, at random.
func (n *node) pick(r *remote) *slot {
	slots := r.area.slots[n.rank]
	return slots[n.c.world.Rand.IntN(len(slots))]
}

func (n *node) op(kind rma.Kind, rank int, r *remote) *rma.Op {
	return &rma.Op{Kind: kind, Peer: rank, Region: r.found.Region, Key: r.found.Key}
}

// push writes the next content of a slot. The model accepts the content as soon as the PUSH has begun, and requires
// it once the PUSH has ended well.
func (n *node) push(rank int, r *remote) {
	s := n.pick(r)
	gen, b := s.next()
	op := n.op(rma.Push, rank, r)
	op.Off = uint64(s.off)
	op.Buf = b
	n.run(op, func() {
		if !n.check("Push", op.Err) {
			s.drop(gen)
		} else {
			s.done(n, gen) // also if its owner has died since: the memory is still here
		}
	}, func() { s.drop(gen) })
}

// put writes a slot that is short enough for a PUT, which has no answer: only a later FLUSH tells that it is done.
func (n *node) put(rank int, r *remote) {
	s := r.area.slots[n.rank][n.c.world.Rand.IntN(2)]
	gen, b := s.next()
	if err := n.eng.RMA.Put(rank, r.found.Region, r.found.Key, uint64(s.off), b, 0, 0); err != nil {
		n.check("Put", err)
		s.drop(gen)
	}
}

// pull reads a slot of any writer. It may find what was placed before it began, or anything newer.
func (n *node) pull(rank int, r *remote) {
	slots := r.area.slots[n.c.anyone()]
	s := slots[n.c.world.Rand.IntN(len(slots))]
	op := n.op(rma.Pull, rank, r)
	op.Off = uint64(s.off)
	op.Buf = make([]byte, s.size)
	placed := s.placed
	n.run(op, func() {
		if n.check("Pull", op.Err) {
			s.judge(n, "a PULL", op.Buf, placed)
		}
	}, func() {})
}

// fence waits until all PUTs are in place.
func (n *node) fence(rank int, r *remote) {
	var due []floor
	for _, s := range r.area.slots[n.rank] {
		if s.begun > s.undone {
			due = append(due, floor{s, s.begun})
		}
	}
	op := n.op(rma.Flush, rank, r)
	n.run(op, func() {
		if !n.check("Flush", op.Err) || !r.area.alive(n.c) {
			return
		}
		for _, f := range due {
			if f.slot.undone < f.gen {
				f.slot.done(n, f.gen)
			}
		}
	}, func() {})
}

// trespass does what must be refused, and leave no trace.
func (n *node) trespass(rank int, r *remote) {
	op := n.op(rma.Push, rank, r)
	op.Buf = make([]byte, 1+n.c.world.Rand.IntN(5000))
	fill(op.Buf, 1)
	want := failure.ErrBounds
	if op.Off = uint64(len(r.area.bytes) - 1); len(op.Buf) == 1 || n.c.world.Chance(0.5) {
		op.Off = 0
		op.Key = op.Key + 1
		want = failure.ErrKey
	}
	n.run(op, func() {
		if !errors.Is(op.Err, want) && !errors.Is(op.Err, failure.ErrPeer) {
			n.c.fail("refusal", "a PUSH that must end with %v ended with %v", want, op.Err)
		}
	}, func() {})
}

// floors returns the writes that a message to this peer must not overtake.
func (r *remote) floors(writer int) (due []floor) {
	if r.state != attached {
		return nil
	}
	for _, s := range r.area.slots[writer] {
		if s.begun > s.placed && s.begun > s.undone {
			due = append(due, floor{s, s.begun})
		}
	}
	return due
}

// check looks whether the write is in place at the receiver of a message.
func (f floor) check(n *node, from int) {
	if f.slot.area == n.area && f.slot.undone < f.gen {
		f.slot.judge(n, arrival, f.slot.now(), f.gen)
	}
}

// sweep checks a whole area.
func (a *area) sweep(n *node, what string) {
	end := 8 * words
	for _, slots := range a.slots {
		for _, s := range slots {
			a.untouched(n, what, end, s.off)
			s.judge(n, what, s.now(), s.placed)
			end = s.off + s.size
		}
	}
	a.untouched(n, what, end, len(a.bytes))
}

// untouched makes sure that the bytes of a region from from to to, which belong to no slot, are still zero.
func (a *area) untouched(n *node, what string, from, to int) {
	for i, v := range a.bytes[from:to] {
		if v != 0 {
			n.c.fail("memory", "%s: byte %d of the region of rank %d, which nobody may write, is %d", what, from+i,
				a.owner.rank, v)
		}
	}
}

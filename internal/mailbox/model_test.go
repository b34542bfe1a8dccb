package mailbox

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// A model is a mailbox as it should be: lists, and no words that anybody shares.
type model struct {
	t      *testing.T
	rand   *rand.Rand
	b      *Box
	r      *Reader
	engine *Writer
	rings  []modelRing
	table  []int
	flows  []*flow
	told   []*piece // records that have not been read
	ticket uint32   // of the next record
	taken  []*piece // on loan
	slots  int      // records that are promised, or have not been read
	next   uint64   // tag
	seen   counts
}

// counts say that a run has seen what it should.
type counts struct{ done, full, refused, void, placed, killed, waited int }

const (
	modelSlots = 8
	modelRoom  = 64 * 12 // that each ring may have
)

type modelRing struct {
	size  int
	shut  bool
	parts []*piece // reserved, in order
}

// A piece is a record, and what it tells of.
type piece struct {
	rec   Record
	size  int // in its ring; 0: in the record
	void  bool
	freed bool
}

// A flow is one sender: by a line of its own, or through the owner's engine.
type flow struct {
	rank   int
	s      *Writer // nil: the engine
	a      Arrival
	data   []byte
	ring   int
	named  bool   // by the sender
	open   *piece // reserved for the whole message
	active bool
}

func newModel(t *testing.T, seed uint64) *model {
	m := &model{t: t, rand: rand.New(rand.NewPCG(seed, 0)), table: []int{0, 1, 1, 2, 0, 1}}
	m.b, m.r = newBox(t, modelSlots, []int{modelRoom, modelRoom, modelRoom}, m.table...)
	m.engine = m.b.Owner()
	for range 3 {
		m.rings = append(m.rings, modelRing{size: modelRoom})
	}
	for i := range m.rings {
		m.b.begin(i, uint64(m.rand.IntN(1000))*Grain)
	}
	for rank := range m.table {
		f := &flow{rank: rank}
		if rank%2 == 0 {
			f.s = join(t, m.b, rank)
		}
		m.flows = append(m.flows, f)
	}
	return m
}

func (r *modelRing) used() (n int) {
	for _, p := range r.parts {
		n += p.size
	}
	return n
}

// release drops what has been released from the front.
func (r *modelRing) release(p *piece) {
	p.freed = true
	for len(r.parts) > 0 && r.parts[0].freed {
		r.parts = r.parts[1:]
	}
}

func (m *model) shared(ring int) (n int) {
	for _, r := range m.table {
		if r == ring {
			n++
		}
	}
	return n
}

// hold reserves as much as a mailbox should, or nil.
func (m *model) hold(ring, n int) *piece {
	r := &m.rings[ring]
	size := int(grains(n))
	if m.slots == modelSlots || r.shut || r.used()+size > r.size {
		return nil
	}
	m.slots++
	p := &piece{size: size}
	r.parts = append(r.parts, p)
	return p
}

func (m *model) want(what string, got, want Outcome) {
	if got != want {
		m.t.Fatalf("%s: outcome %d, not %d", what, got, want)
	}
	switch got {
	case Done:
		m.seen.done++
	case Full:
		m.seen.full++
	default:
		m.seen.refused++
	}
}

// start begins a message of a random size.
func (m *model) start(f *flow) {
	total := [...]int{0, 1, 40, 41, 64, 65, 200, m.rand.IntN(modelRoom), modelRoom + 1}[m.rand.IntN(9)]
	mode := Mode(m.rand.IntN(3))
	entry := NoRing
	if m.rand.IntN(4) == 0 {
		entry = m.rand.IntN(4)
	}
	m.next++
	f.data = letter(m.next, total)
	f.open = nil
	f.a = Arrival{From: f.rank, Tag: m.next, Total: total}
	ring := entry
	if ring == NoRing {
		ring = m.table[f.rank]
	}
	want := Done
	packets := false
	switch {
	case ring == NoRing || ring >= len(m.rings) || m.rings[ring].size == 0:
		want = NoEntry
	case total > m.rings[ring].size:
		want = TooLong
	default:
		shared := entry != NoRing || m.shared(ring) > 1
		packets = shared || mode == PerPacket
		if mode == PerMessage && shared && total > Inline {
			want = IsShared
		} else if !packets && total > Inline {
			if f.open = m.hold(ring, total); f.open == nil {
				want = Full
			}
		}
	}
	var got Outcome
	if f.s != nil {
		f.s.Lock()
		got = f.s.Begin(&f.a, entry, mode)
	} else {
		got = m.engine.Begin(&f.a, entry, mode)
	}
	m.want(fmt.Sprintf("begin %+v of %d, entry %d, mode %d", f.a, total, entry, mode), got, want)
	if f.active = got == Done; f.active {
		f.ring = ring
		f.named = entry != NoRing
		f.a.packets = packets
	} else if f.s != nil {
		f.s.Unlock()
	}
}

// add writes the next bytes.
func (m *model) add(f *flow) {
	off := f.a.Got
	n := len(f.data) - off
	if n > 1 && m.rand.IntN(3) > 0 {
		n = 1 + m.rand.IntN(n-1)
	}
	short := n == len(f.data) && n <= Inline
	if f.open == nil && !short && m.rings[f.ring].size == 0 && !f.named && m.table[f.rank] != NoRing {
		f.ring = m.table[f.rank] // its ring was taken away
	}
	ring := f.ring
	last := off+n == len(f.data)
	rec := Record{From: f.rank, Tag: f.a.Tag, Extent: Extent{Ring: ring, Len: n}, Off: off, Total: len(f.data),
		Last: last, Packets: f.a.packets}
	want := Done
	var p *piece
	switch {
	case f.open != nil && last:
		p = f.open
		rec.Len = len(f.data)
		rec.Off = 0
	case f.open != nil:
	case short:
		rec.InRecord = true
		if m.slots == modelSlots {
			want = Full
		} else {
			m.slots++
			p = &piece{}
		}
	case m.rings[ring].size == 0: // it was taken away
		want = NoEntry
	case n > m.rings[ring].size: // it has become smaller
		want = TooLong
	default:
		if p = m.hold(ring, n); p == nil {
			want = Full
		}
	}
	var got Outcome
	if f.s != nil {
		got = f.s.Add(&f.a, f.data[off:off+n])
	} else {
		got = m.engine.Add(&f.a, f.data[off:off+n])
	}
	m.want(fmt.Sprintf("add %d bytes at %d of %+v", n, off, f.a), got, want)
	if p != nil {
		p.rec = rec
		m.tell(p)
		if last && f.a.Ticket != p.rec.Ticket {
			m.t.Fatalf("ticket %d, not %d", f.a.Ticket, p.rec.Ticket)
		}
	}
	if got == TooLong || got == NoEntry {
		m.end(f)
	}
	if got == Done && f.a.Got != off+n {
		m.t.Fatalf("%d bytes got, not %d", f.a.Got, off+n)
	}
	if got == Done && last {
		f.open = nil
		m.end(f)
	}
}

func (m *model) end(f *flow) {
	f.active = false
	if f.s != nil {
		f.s.Unlock()
	}
}

// abandon gives a message up.
func (m *model) abandon(f *flow) {
	m.b.Abandon(&f.a)
	if f.open != nil {
		f.open.void = true
		f.open.rec.Extent.Ring = f.ring
		m.tell(f.open)
		f.open = nil
	}
	m.end(f)
}

// tell puts a record behind the records that have not been read.
func (m *model) tell(p *piece) {
	p.rec.Ticket = m.ticket
	m.ticket++
	m.told = append(m.told, p)
}

// take reads the next record.
func (m *model) take() {
	var p *piece
	for len(m.told) > 0 && p == nil {
		next := m.told[0]
		m.told = m.told[1:]
		m.slots--
		if next.void {
			m.seen.void++
			m.rings[next.rec.Ring].release(next)
		} else {
			p = next
		}
	}
	var rec Record
	if got := m.r.Take(&rec); got != (p != nil) {
		m.t.Fatalf("a record: %v, not %v", got, !got)
	}
	if p == nil {
		return
	}
	p.rec.Pos = rec.Pos
	p.rec.Data = rec.Data
	if fmt.Sprint(rec) != fmt.Sprint(p.rec) {
		m.t.Fatalf("record %+v, not %+v", rec, p.rec)
	}
	m.judge(p)
	m.r.Done()
	if !rec.InRecord {
		m.taken = append(m.taken, p)
	}
}

// judge compares the bytes of a record with what was sent.
func (m *model) judge(p *piece) {
	got := m.r.text(&p.rec)
	want := letter(p.rec.Tag, p.rec.Total)[p.rec.Off:][:p.rec.Len]
	if !bytes.Equal(got, want) {
		m.t.Fatalf("%+v: %x, not %x", p.rec, got, want)
	}
}

func (m *model) release() {
	if len(m.taken) == 0 {
		return
	}
	i := m.rand.IntN(len(m.taken))
	p := m.taken[i]
	m.taken = slices.Delete(m.taken, i, i+1)
	m.judge(p)
	r := &m.rings[p.rec.Ring]
	before := r.used()
	r.release(p)
	if moved := m.r.Release(p.rec.Extent); moved != (r.used() < before) {
		m.t.Fatalf("Head moved: %v", moved)
	}
}

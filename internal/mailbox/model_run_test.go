package mailbox

import (
	"fmt"
	"testing"
)

// change changes the table, or a ring.
func (m *model) change() {
	i := m.rand.IntN(len(m.rings))
	r := &m.rings[i]
	switch {
	case m.rand.IntN(2) == 0:
		rank := m.rand.IntN(len(m.table))
		ring := m.rand.IntN(len(m.rings)+1) - 1
		m.table[rank] = ring
		m.b.SetRing(rank, ring)
	case !r.shut:
		r.shut = true
		m.b.Shut(i)
	case drained(m.b, i) != (r.used() == 0):
		m.t.Fatalf("ring %d is drained: %v", i, drained(m.b, i))
	case r.used() == 0:
		r.size = Grain * m.rand.IntN(modelRoom/Grain+1)
		r.shut = r.size == 0
		placed(m.r, i)
		m.b.Place(i, i*modelRoom, r.size)
		m.seen.placed++
	}
}

// kill lets a sender die where it is; it comes back with another line.
func (m *model) kill() {
	f := m.flows[m.rand.IntN(len(m.flows))]
	if f.s == nil {
		return
	}
	busy := false
	var open []*Arrival
	for _, g := range m.flows {
		if g.active && g.s == nil {
			open = append(open, &g.a)
		}
		busy = busy || g != f && g.s != nil && g.active
	}
	done := m.r.Recover(func(rank, _ int, _ bool) bool { return rank == f.rank }, open)
	if done == busy {
		m.t.Fatalf("recovered: %v, while others are busy: %v", done, busy)
	}
	if !done {
		m.seen.waited++
		return
	}
	m.seen.killed++
	if f.open != nil {
		m.slots--
		m.rings[f.ring].release(f.open)
		f.open = nil
	}
	f.active = false
	f.s = join(m.t, m.b, f.rank)
}

func (m *model) check() {
	promises, used := m.b.Reserved()
	if want := m.slots - len(m.told); promises != want {
		m.t.Fatalf("%d promises, not %d", promises, want)
	}
	for i := range m.rings {
		if want := m.rings[i].used(); used[i] != want {
			m.t.Fatalf("ring %d: %d bytes reserved, not %d", i, used[i], want)
		}
	}
	if m.r.Bad != 0 {
		m.t.Fatalf("%d bad records", m.r.Bad)
	}
}

func (m *model) run(steps int) {
	for range steps {
		switch k := m.rand.IntN(100); {
		case k < 50:
			if f := m.flows[m.rand.IntN(len(m.flows))]; f.active {
				m.add(f)
			} else {
				m.start(f)
			}
		case k < 70:
			m.take()
		case k < 90:
			m.release()
		case k < 94:
			if f := m.flows[m.rand.IntN(len(m.flows))]; f.active {
				m.abandon(f)
			}
		case k < 98:
			m.change()
		default:
			m.kill()
		}
		m.check()
	}
	for _, f := range m.flows {
		if f.active {
			m.abandon(f)
		}
	}
	for len(m.told) > 0 || len(m.taken) > 0 {
		m.take()
		m.release()
	}
	m.check()
	empty(m.t, m.b, m.r)
}

// A mailbox does what lists would do, whatever comes when.
func TestModel(t *testing.T) {
	var all counts
	for seed := range uint64(300) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			m := newModel(t, seed)
			m.run(600)
			all.done += m.seen.done
			all.full += m.seen.full
			all.refused += m.seen.refused
			all.void += m.seen.void
			all.placed += m.seen.placed
			all.killed += m.seen.killed
			all.waited += m.seen.waited
		})
	}
	if all.done < 10000 || all.full < 1000 || all.refused < 1000 || all.void < 100 || all.placed < 100 ||
		all.killed < 100 || all.waited < 100 {
		t.Errorf("too little was seen: %+v", all)
	}
}

package ring

import "testing"

// A partsModel is a ring of bytes with parts of one, two and two bytes, as a state of all its words, its memory and
// both ends. Every step is one access to shared memory, in the order of the code in bytes.go; the functions are named
// beside it. All interleavings are searched: every byte comes once, in order, whenever the ring grows, shrinks and
// gives memory back, and a producer finds the ring full only if as many bytes as the last part has have not been read.
type partsModel struct {
	tail, used, head int8
	begins           [3]int8
	mem              [5]int8 // numbers of bytes, from 1; 0 where memory has been given back
	p                producerModel
	c                consumerModel
}

type producerModel struct {
	at                            step
	tail, read, begun, used, left int8
	part                          int8 // that is being begun
}

type consumerModel struct {
	at            step
	n, head, tail int8
}

// A step is what an end does next.
type step int8

const (
	look     step = iota
	publish       // Publish
	note          // begin: begins
	use           // begin: used
	discard       // Left
	inUse         // refresh: used
	begins        // refresh: begins
	copyOut       // Peek
	giveBack      // Take
)

const (
	modelBytes = 8 // that are written
	modelLast  = 2 // size of the last part
)

var modelParts = [...]struct{ at, size int8 }{{0, 1}, {1, 2}, {3, modelLast}}

// partsFlaws are changes that lose bytes.
type partsFlaws struct {
	usedFirst   bool // begin says that a part is in use before it notes where it begins
	usedBefore  bool // the consumer reads which part is in use before it reads the tail
	forgets     bool // the consumer takes the part in use for that of the next byte
	shrinksFull bool // Shrink does not look whether the ring is empty
	leavesEarly bool // Left does not look whether the consumer has left the part
}

// A partsStep is what one state leads to.
type partsStep struct {
	from  partsModel
	flaws partsFlaws
	next  []partsModel
	wrong string
}

func (s *partsStep) step(change func(m *partsModel)) {
	m := s.from
	change(&m)
	s.next = append(s.next, m)
}

// place returns where a byte lies in a part.
func place(part, number int8) int8 { return modelParts[part].at + number&(modelParts[part].size-1) }

// room returns how much is free in the producer's part.
func (m *partsModel) room() int8 {
	return modelParts[m.p.used-1].size - (m.p.tail - max(m.p.read, m.p.begun))
}

func (s *partsStep) producer() {
	switch m := s.from; m.p.at {
	case look:
		s.write()
		s.shrink()
		s.leave()
	case publish:
		s.write()
		s.step(func(m *partsModel) {
			m.tail = m.p.tail
			m.p.at = look
		})
	case note, use:
		s.begin()
	case discard:
		s.step(func(m *partsModel) {
			for i := range modelParts[m.p.used-1].at {
				m.mem[i] = 0
			}
			m.p.left = m.p.used - 1
			m.p.at = look
		})
	}
}

// write is Reserve and the copy into what it returns, or its refresh.
func (s *partsStep) write() {
	m := s.from
	if m.p.tail == modelBytes {
		return
	}
	if m.room() > 0 {
		s.step(func(m *partsModel) {
			m.mem[place(m.p.used-1, m.p.tail)] = m.p.tail + 1
			m.p.tail++
			m.p.at = publish
		})
		return
	}
	m.p.read = m.head
	switch {
	case m.room() > 0:
	case int(m.p.used) < len(modelParts):
		m.p.part = m.p.used
		m.p.at = note
	case m.p.tail-m.head < modelLast:
		s.wrong = "a producer waits though less than the last part holds is on its way"
	}
	if m != s.from && m.p.tail == m.tail { // a refresh comes after Publish
		s.next = append(s.next, m)
	}
}

func (s *partsStep) shrink() {
	if m := s.from; m.p.used > 1 && (m.head == m.p.tail || s.flaws.shrinksFull) {
		s.step(func(m *partsModel) {
			m.p.read = m.head
			m.p.left = 0
			m.p.part = 0
			m.p.at = note
		})
	}
}

func (s *partsStep) leave() {
	if m := s.from; m.p.left < m.p.used-1 && (m.head >= m.p.begun || s.flaws.leavesEarly) {
		s.step(func(m *partsModel) { m.p.at = discard })
	}
}

func (s *partsStep) begin() {
	s.step(func(m *partsModel) {
		if (m.p.at == note) != s.flaws.usedFirst {
			m.begins[m.p.part] = m.p.tail
		} else {
			m.used = m.p.part + 1
		}
		if m.p.at == note {
			m.p.at = use
			return
		}
		m.p.at = look
		m.p.used = m.p.part + 1
		m.p.begun = m.p.tail
	})
}

func (s *partsStep) consumer() {
	switch m := s.from; m.c.at {
	case look:
		s.look()
	case inUse:
		s.step(func(m *partsModel) {
			if s.flaws.usedBefore {
				m.c.tail = m.tail
			} else {
				m.c.n = m.used - 1
			}
			m.c.at = begins
		})
	case begins:
		s.find()
	case copyOut:
		if m.mem[place(m.c.n, m.c.head)] != m.c.head+1 {
			s.wrong = "a byte is lost, or another one comes in its place"
		}
		s.step(func(m *partsModel) { m.c.at = giveBack })
	case giveBack:
		s.step(func(m *partsModel) {
			m.c.head++
			m.head = m.c.head
			m.c.at = copyOut
			if m.c.head == m.c.tail {
				m.c.at = look
			}
		})
	}
}

// look is the beginning of refresh.
func (s *partsStep) look() {
	if s.flaws.usedBefore {
		s.step(func(m *partsModel) {
			m.c.n = m.used - 1
			m.c.at = inUse
		})
		return
	}
	if s.from.tail != s.from.c.head {
		s.step(func(m *partsModel) {
			m.c.tail = m.tail
			m.c.at = inUse
		})
	}
}

// find is the loop of refresh.
func (s *partsStep) find() {
	m := s.from
	at := m.begins[m.c.n]
	switch {
	case m.c.tail == m.c.head:
		m.c.at = look
	case at <= m.c.head || s.flaws.forgets:
		m.c.at = copyOut
	case m.c.n == 0:
		s.wrong = "the first part begins behind what is to be read"
	default:
		m.c.tail = min(m.c.tail, at)
		m.c.n--
	}
	s.next = append(s.next, m)
}

// searchParts returns what goes wrong, in which state, and how many states there are.
func searchParts(f partsFlaws) (wrong string, in partsModel, states int) {
	start := partsModel{used: 1, p: producerModel{used: 1}}
	seen := map[partsModel]bool{start: true}
	for todo := []partsModel{start}; len(todo) > 0; {
		m := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		s := &partsStep{from: m, flaws: f}
		s.producer()
		s.consumer()
		if s.wrong != "" {
			return s.wrong, m, len(seen)
		}
		if len(s.next) == 0 && m.head != modelBytes {
			return "nobody can go on", m, len(seen)
		}
		for _, n := range s.next {
			if !seen[n] {
				seen[n] = true
				todo = append(todo, n)
			}
		}
	}
	return "", partsModel{}, len(seen)
}

// TestPartsInAllOrders: no interleaving of growing, shrinking and reading loses a byte, and the search finds rings that
// do.
func TestPartsInAllOrders(t *testing.T) {
	wrong, in, states := searchParts(partsFlaws{})
	if wrong != "" {
		t.Errorf("%s, in %+v", wrong, in)
	}
	t.Logf("%d states", states)
	for _, f := range []partsFlaws{
		{usedFirst: true}, {usedBefore: true}, {forgets: true}, {shrinksFull: true}, {leavesEarly: true},
	} {
		if wrong, _, _ := searchParts(f); wrong == "" {
			t.Errorf("the search does not find what is wrong with %+v", f)
		} else {
			t.Logf("%+v: %s", f, wrong)
		}
	}
}

package stream

import "testing"

// A moveState is a connection that may move from its socket into memory, as a state of all that its four goroutines
// share: at each end one writes two bytes and ends its writing, and one reads to the end. All interleavings are
// searched, with offers at any moment or none, which the dialler takes or does not: every byte comes once, in order,
// each direction ends where its writer has ended it, and nobody waits for ever. A step is one system call, one access
// to shared memory, or what the code does under Conn.mu; the functions of move.go and early.go are named beside it.
type moveState struct {
	dirs [2]direction // by the role of the writer
	ends [2]moveEnd   // by role
}

// A direction is what one end writes and the other reads: up to two items in the socket, one in the ring.
type direction struct {
	socket [2]int8 // numbers of bytes, or mark; 0 where there is none
	eof    bool    // the writer's side of the socket has been shut down
	begun  bool    // the ring has its producer
	ring   int8    // number of the byte in it
	ended  bool    // the ring's writer has said that nothing follows
}

const mark = -1

// bytesWritten is how many bytes each end writes.
const bytesWritten = 2

// A moveEnd is one end with its two goroutines.
type moveEnd struct {
	stage  int8 // alone, offered, agreed, settled
	mem    bool
	out    bool // c.out is there
	in     bool
	shut   bool // CloseWrite has been called
	moving int8 // the goroutine that is in moveOut, which holds mu and wr: writer, or reader; 0: none
	wr     int8 // the goroutine that holds wr
	said   int8 // a byte that look has read

	write   int8 // where the writer is
	written int8 // bytes
	read    int8 // where the reader is
	got     int8 // bytes
	ended   bool // what the reader has read of ended
}

// The goroutines of an end, as holders of its locks.
const (
	nobody = iota
	aWriter
	aReader
)

// Where a goroutine is.
const (
	idle     = iota // between calls
	writing         // holds wr
	worked          // has written: it may offer or look, and returns
	closing         // has written all: CloseWrite
	reading         // holds rd
	heeding         // has read a byte of the socket, or adopted memory, or moved: it may offer or move out
	peeking         // has read ended
	finished        // forever
)

// moveFlaws are changes that lose bytes, or make a goroutine wait for ever.
type moveFlaws struct {
	endsFirst   bool // the socket's stream ends before the ring is there
	hasty       bool // the listener writes into memory before the dialler does
	forgets     bool // a reader goes on in the ring before it has read the socket
	movesAfter  bool // moveOut does not look whether CloseWrite has been called
	readsEndOld bool // a reader looks for bytes first, and then for the end
}

func (d *direction) push(item int8) bool {
	for i := range d.socket {
		if d.socket[i] == 0 {
			d.socket[i] = item
			return true
		}
	}
	return false
}

func (d *direction) pop() (item int8) {
	item = d.socket[0]
	d.socket[0] = d.socket[1]
	d.socket[1] = 0
	return item
}

// A moveStep is what one state leads to.
type moveStep struct {
	from  moveState
	role  role
	flaws moveFlaws
	next  []moveState
	wrong string // what must not be
}

// step adds the state after a change, of the end, what it writes, and what it reads.
func (s *moveStep) step(change func(e *moveEnd, out, in *direction)) {
	m := s.from
	change(&m.ends[s.role], &m.dirs[s.role], &m.dirs[1-s.role])
	s.next = append(s.next, m)
}

func (s *moveStep) at() (e moveEnd, out, in direction) {
	return s.from.ends[s.role], s.from.dirs[s.role], s.from.dirs[1-s.role]
}

// mayMove is the condition of moveOut.
func (s *moveStep) mayMove() bool {
	e, _, in := s.at()
	return !e.out && e.mem && (!e.shut || s.flaws.movesAfter) &&
		(int(e.stage) == agreed || int(e.stage) == offered && (in.begun || s.flaws.hasty))
}

// moveOut makes its two steps: the ring, and then the end of the socket's stream.
func (s *moveStep) moveOut() {
	e, _, _ := s.at()
	s.step(func(me *moveEnd, out, _ *direction) {
		if s.flaws.endsFirst && !out.eof || !s.flaws.endsFirst && out.begun {
			out.eof = true
		} else {
			out.begun = true
		}
		if !out.begun || !out.eof {
			return
		}
		me.out = true
		me.moving = nobody
		if e.moving == aReader {
			me.wr = nobody
			me.read = idle
		}
	})
}

// writer makes the steps of the goroutine that writes.
func (s *moveStep) writer() {
	e, out, _ := s.at()
	switch {
	case e.moving == aWriter:
		s.moveOut()
	case e.write == idle && e.wr == nobody:
		s.step(func(me *moveEnd, _, _ *direction) {
			me.wr = aWriter
			me.write = writing
		})
	case e.write == writing && s.mayMove(): // write
		s.step(func(me *moveEnd, _, _ *direction) { me.moving = aWriter })
	case e.write == writing && e.out && out.ring == 0:
		s.step(func(me *moveEnd, out, _ *direction) {
			me.written++
			out.ring = me.written
			me.write = worked
		})
	case e.write == writing && !e.out && out.socket[1] == 0: // writeEarly
		s.step(func(me *moveEnd, out, _ *direction) {
			me.written++
			out.push(me.written)
			me.write = worked
		})
	case e.write == worked: // workedOut
		s.step(func(me *moveEnd, _, _ *direction) { me.back() })
		s.offer(func(me *moveEnd) { me.back() })
		s.look()
	case e.write == closing && e.moving == nobody: // CloseWrite, under mu
		s.step(func(me *moveEnd, out, _ *direction) {
			me.shut = true
			if me.out {
				out.ended = true
			} else {
				out.eof = true
			}
			me.write = finished
		})
	}
}

// back returns from Write.
func (e *moveEnd) back() {
	e.wr = nobody
	e.write = idle
	if e.written == bytesWritten {
		e.write = closing
	}
}

// offer is that of the listener, which holds wr: the mark finds room in the socket, or the memory is dropped.
func (s *moveStep) offer(then func(*moveEnd)) {
	e, _, _ := s.at()
	if s.role != accepting || int(e.stage) != alone || e.shut {
		return
	}
	s.step(func(me *moveEnd, out, _ *direction) {
		if out.push(mark) {
			me.stage = offered
			me.mem = true
		}
		then(me)
	})
}

// look is that of a dialler that writes while nobody reads.
func (s *moveStep) look() {
	e, _, in := s.at()
	if s.role != dialling || e.read != idle || e.in || e.said != 0 || in.socket[0] == 0 {
		return
	}
	if in.socket[0] != mark {
		s.step(func(me *moveEnd, _, in *direction) {
			me.said = in.pop()
			me.back()
		})
		return
	}
	s.adopt(func(me *moveEnd) { me.back() })
}

// adopt takes the mark, and the memory or not.
func (s *moveStep) adopt(then func(*moveEnd)) {
	for _, takes := range []bool{true, false} {
		s.step(func(me *moveEnd, _, in *direction) {
			in.pop()
			me.stage = settled
			if takes {
				me.stage = agreed
				me.mem = true
			}
			then(me)
		})
	}
}

// came is a byte that a reader has got.
func (s *moveStep) came(item int8) {
	e, _, _ := s.at()
	if item != e.got+1 {
		s.wrong = "a byte is lost, or comes before an earlier one"
	}
}

// reader makes the steps of the goroutine that reads.
func (s *moveStep) reader() {
	e, _, in := s.at()
	switch {
	case e.moving == aReader:
		s.moveOut()
	case e.read == idle:
		s.step(func(me *moveEnd, _, _ *direction) { me.read = reading })
	case e.read == reading && e.in: // await
		s.readRing()
	case e.read == peeking:
		s.peekRing()
	case e.read == reading && e.said != 0:
		s.came(e.said)
		s.step(func(me *moveEnd, _, _ *direction) {
			me.got++
			me.said = 0
			me.read = idle
		})
	case e.read == reading && s.flaws.forgets && e.mem && in.begun,
		e.read == reading && in.socket[0] == 0 && in.eof && e.mem && in.begun: // moveIn
		s.step(func(me *moveEnd, _, _ *direction) {
			me.in = true
			me.read = heeding
		})
	case e.read == reading && in.socket[0] == mark: // heed
		s.adopt(func(me *moveEnd) { me.read = heeding })
	case e.read == reading && in.socket[0] != 0:
		s.came(in.socket[0])
		s.step(func(me *moveEnd, _, in *direction) {
			in.pop()
			me.got++
			me.read = heeding
		})
	case e.read == reading && in.eof:
		s.done()
	case e.read == heeding:
		s.heed()
	}
}

// heed is what a reader does when it has read: workedIn, or the end of adopt or moveIn. All of it wants wr, without
// waiting.
func (s *moveStep) heed() {
	e, _, _ := s.at()
	s.step(func(me *moveEnd, _, _ *direction) { me.read = idle })
	if e.wr != nobody {
		return
	}
	s.offer(func(me *moveEnd) { me.read = idle })
	if s.mayMove() {
		s.step(func(me *moveEnd, _, _ *direction) {
			me.wr = aReader
			me.moving = aReader
		})
	}
}

func (s *moveStep) readRing() {
	e, _, in := s.at()
	if s.flaws.readsEndOld && in.ring == 0 {
		s.step(func(me *moveEnd, _, _ *direction) { me.read = peeking })
		return
	}
	if in.ring == 0 && !in.ended && !e.ended {
		return // it waits: model_test.go shows that it is woken
	}
	s.step(func(me *moveEnd, _, in *direction) {
		me.ended = in.ended
		me.read = peeking
	})
}

func (s *moveStep) peekRing() {
	e, _, in := s.at()
	switch {
	case s.flaws.readsEndOld && in.ended:
		s.done()
	case in.ring != 0 && !s.flaws.readsEndOld:
		s.came(in.ring)
		s.step(func(me *moveEnd, _, in *direction) {
			in.ring = 0
			me.got++
			me.read = idle
		})
	case e.ended:
		s.done()
	default:
		s.step(func(me *moveEnd, _, _ *direction) { me.read = idle })
	}
}

// done is the end of a direction, at its reader.
func (s *moveStep) done() {
	if e, _, _ := s.at(); e.got != bytesWritten {
		s.wrong = "a direction ends before its writer has ended it"
	}
	s.step(func(me *moveEnd, _, _ *direction) { me.read = finished })
}

// searchMoves returns what goes wrong, in which state, and how many states there are.
func searchMoves(f moveFlaws) (wrong string, in moveState, states, moved int) {
	states = reach(moveState{}, func(m moveState) (next []moveState, ok bool) {
		in = m
		for _, r := range []role{dialling, accepting} {
			s := &moveStep{from: m, role: r, flaws: f}
			s.writer()
			s.reader()
			if wrong = s.wrong; wrong != "" {
				return nil, false
			}
			next = append(next, s.next...)
		}
		over := true
		for _, e := range m.ends {
			over = over && e.read == finished && e.write == finished
		}
		if over && m.ends[0].in && m.ends[1].in {
			moved++
		}
		if len(next) == 0 && !over {
			wrong = "a goroutine waits for ever"
		}
		return next, wrong == ""
	})
	return wrong, in, states, moved
}

// TestMovesInAllOrders: no interleaving of a move loses a byte, and the search finds moves that do.
func TestMovesInAllOrders(t *testing.T) {
	wrong, in, states, moved := searchMoves(moveFlaws{})
	if wrong != "" || moved == 0 {
		t.Errorf("%s, in %+v; %d ways end in memory", wrong, in, moved)
	}
	t.Logf("%d states, of which %d are ends in memory", states, moved)
	for _, f := range []moveFlaws{
		{endsFirst: true}, {hasty: true}, {forgets: true}, {movesAfter: true}, {readsEndOld: true},
	} {
		if wrong, _, _, _ := searchMoves(f); wrong == "" {
			t.Errorf("the search does not find what is wrong with %+v", f)
		} else {
			t.Logf("%+v: %s", f, wrong)
		}
	}
}

package stream

import "testing"

// A model is one direction of a connection whose ring has room for one byte, as a state
// of all words and of both goroutines. All its interleavings are searched: in none does a
// goroutine wait for ever. Every step is one access to shared memory or one system call,
// in the order of the code in conn.go and wait.go, named beside it; all accesses are Go's
// atomic ones, which are sequentially consistent.
type model struct {
	tail, head, want int8
	ended            bool
	reader, writer   party
}

// A party is a goroutine, the doorbell at which it waits, and its socket.
type party struct {
	at    string
	word  uint32
	bytes int8   // in its socket
	woken bool   // its futex, while it naps
	heard uint32 // what it has read of the other's word
	end   bool   // it has seen ended
	mode  uint32 // how it waits: asleep or napping
}

// flaws are changes to the protocol that lose wake-ups.
type flaws struct {
	noSecondLook  bool // the waiting side does not look again after it has armed its doorbell
	armsTooLate   bool // it arms after its second look
	looksTooEarly bool // the other side looks at the doorbell before it publishes
	noTimeout     bool // naps do not end by themselves: this is no flaw, the doorbell must do
}

const bytesSent = 3

func (m *model) ready(writer bool) bool {
	if writer {
		return m.tail == m.head
	}
	return m.tail != m.head || m.ended
}

// moves collects the states that may follow a state by one step of one party.
type moves struct {
	from   model
	me     party // the party that makes the step, in the state from
	writer bool  // it is the writer
	flaws  flaws
	next   []model
}

// steps returns the states that may follow by a step of one party.
func (m model) steps(writer bool, f flaws) []model {
	v := &moves{from: m, me: m.reader, writer: writer, flaws: f}
	if writer {
		v.me = m.writer
	}
	switch v.me.at {
	case "look": // room: Reserve. await: Ended, and then Peek
		v.look()
	case "peek":
		v.peek()
	case "want": // Want, before wait
		v.want()
	case "nap", "arm": // arm, by nap or by wait
		v.arm()
	case "look again": // the rest of arm
		v.lookAgain()
	case "arm late":
		v.armLate()
	case "disarm":
		v.disarm()
	case "wait":
		v.wait()
	case "publish": // Publish, Take
		v.publish()
	case "hear early", "hear": // ring: the load, and Wanted
		v.hear()
	case "ring": // ring: the compare-and-swap, and the system call
		v.ring()
	case "end": // endWriting
		v.end()
	}
	return v.next
}

// step adds the state that a change makes of the one before.
func (v *moves) step(change func(m *model, me, peer *party)) {
	m := v.from
	if v.writer {
		change(&m, &m.writer, &m.reader)
	} else {
		change(&m, &m.reader, &m.writer)
	}
	v.next = append(v.next, m)
}

// to adds the state in which the party is elsewhere in its code, and no more has changed.
func (v *moves) to(at string) {
	v.step(func(_ *model, me, _ *party) { me.at = at })
}

func (v *moves) look() {
	m := &v.from
	switch {
	case v.writer && m.tail == bytesSent:
		v.to("end")
	case v.writer && m.tail == m.head && v.flaws.looksTooEarly:
		v.to("hear early")
	case v.writer && m.tail == m.head:
		v.to("publish")
	case v.writer:
		v.to("want")
	case m.tail != m.head:
		v.to("publish")
	default:
		v.step(func(m *model, me, _ *party) {
			me.end = m.ended
			me.at = "peek"
		})
	}
}

func (v *moves) peek() {
	switch {
	case v.from.tail != v.from.head:
		v.to("publish")
	case v.me.end:
		v.to("done")
	default:
		v.to("nap")
		v.to("arm")
	}
}

func (v *moves) want() {
	for _, at := range []string{"nap", "arm"} {
		v.step(func(m *model, me, _ *party) {
			m.want = m.tail
			me.at = at
		})
	}
}

func (v *moves) arm() {
	v.step(func(_ *model, me, _ *party) {
		me.mode = asleep
		if me.at == "nap" {
			me.mode = napping
		}
		if !v.flaws.armsTooLate {
			me.word = me.mode
		}
		me.at = "look again"
		if v.flaws.noSecondLook {
			me.at = "wait"
		}
	})
}

func (v *moves) lookAgain() {
	switch {
	case v.from.ready(v.writer):
		v.to("disarm")
	case v.flaws.armsTooLate:
		v.to("arm late")
	default:
		v.to("wait")
	}
}

func (v *moves) armLate() {
	v.step(func(_ *model, me, _ *party) {
		me.word = me.mode
		me.at = "wait"
	})
}

func (v *moves) disarm() {
	v.step(func(_ *model, me, _ *party) {
		me.word = awake
		me.woken = false
		me.at = "look"
	})
}

// wait adds nothing while the party has to wait.
func (v *moves) wait() {
	me := v.me
	switch {
	case me.mode == asleep && me.bytes > 0: // sleep: the socket's Read
		v.step(func(_ *model, me, _ *party) {
			me.bytes = 0
			me.at = "arm"
		})
	case me.mode == napping && me.word != napping, me.mode == napping && me.woken: // FutexWait
		v.to("disarm")
	case me.mode == napping && !v.flaws.noTimeout:
		v.to("disarm")
	}
}

func (v *moves) publish() {
	v.step(func(m *model, me, _ *party) {
		if v.writer {
			m.tail++
		} else {
			m.head++
		}
		me.at = "hear"
		if v.flaws.looksTooEarly && v.writer {
			me.at = "ring"
		}
	})
}

func (v *moves) hear() {
	v.step(func(m *model, me, peer *party) {
		me.heard = peer.word
		if me.at == "hear early" {
			me.at = "publish"
			return
		}
		me.at = "ring"
		if !v.writer && m.head < m.want {
			me.heard = awake
		}
	})
}

func (v *moves) ring() {
	v.step(func(m *model, me, peer *party) {
		if me.heard != awake && peer.word == me.heard {
			peer.word = awake
			if me.heard == napping {
				peer.woken = peer.at == "wait"
			} else {
				peer.bytes++
			}
		}
		me.at = "look"
		if m.ended && v.writer {
			me.at = "done"
		}
	})
}

func (v *moves) end() {
	v.step(func(m *model, me, _ *party) {
		m.ended = true
		me.at = "hear"
	})
}

// search returns a state in which somebody waits for ever, if there is one, and how many
// states it has seen.
func search(f flaws) (stuck *model, states int) {
	start := model{reader: party{at: "look"}, writer: party{at: "look"}}
	states = reach(start, func(m model) (next []model, ok bool) {
		next = append(m.steps(true, f), m.steps(false, f)...)
		if len(next) == 0 && (m.reader.at != "done" || m.writer.at != "done") {
			stuck = &m
		}
		return next, stuck == nil
	})
	return stuck, states
}

// reach looks at each state that can follow from the first one, once, and returns how many it has seen. Look returns
// what may follow a state; if it reports false, that was the last one.
func reach[S comparable](start S, look func(m S) (next []S, ok bool)) (states int) {
	seen := map[S]bool{start: true}
	for open := []S{start}; len(open) > 0; {
		m := open[len(open)-1]
		open = open[:len(open)-1]
		next, ok := look(m)
		if !ok {
			break
		}
		for _, n := range next {
			if !seen[n] {
				seen[n] = true
				open = append(open, n)
			}
		}
	}
	return len(seen)
}

// No wake-up is lost, whatever happens when; and the search finds protocols that lose some.
func TestNoWakeUpIsLost(t *testing.T) {
	for _, f := range []flaws{{}, {noTimeout: true}} {
		stuck, states := search(f)
		if stuck != nil {
			t.Errorf("%+v: stuck in %+v", f, *stuck)
		}
		t.Logf("%d states", states)
	}
	for _, f := range []flaws{{noSecondLook: true}, {armsTooLate: true}, {looksTooEarly: true}} {
		if stuck, _ := search(f); stuck == nil {
			t.Errorf("the search does not find that %+v loses wake-ups", f)
		}
	}
}

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

// steps returns the states that may follow by a step of one party.
func (m model) steps(writer bool, f flaws) (next []model) {
	step := func(change func(m *model, me, peer *party)) {
		n := m
		if writer {
			change(&n, &n.writer, &n.reader)
		} else {
			change(&n, &n.reader, &n.writer)
		}
		next = append(next, n)
	}
	to := func(at string) { step(func(_ *model, me, _ *party) { me.at = at }) }
	me := m.reader
	if writer {
		me = m.writer
	}
	switch me.at {
	case "look": // room: Reserve. await: Ended, and then Peek
		switch {
		case writer && m.tail == bytesSent:
			to("end")
		case writer && m.tail == m.head && f.looksTooEarly:
			to("hear early")
		case writer && m.tail == m.head:
			to("publish")
		case writer:
			to("want")
		case m.tail != m.head:
			to("publish")
		default:
			step(func(m *model, me, _ *party) {
				me.end = m.ended
				me.at = "peek"
			})
		}
	case "peek":
		switch {
		case m.tail != m.head:
			to("publish")
		case me.end:
			to("done")
		default:
			to("nap")
			to("arm")
		}
	case "want": // Want, before wait
		step(func(m *model, me, _ *party) {
			m.want = m.tail
			me.at = "nap"
		})
		step(func(m *model, me, _ *party) {
			m.want = m.tail
			me.at = "arm"
		})
	case "nap", "arm": // arm, by nap or by wait
		step(func(_ *model, me, _ *party) {
			me.mode = asleep
			if me.at == "nap" {
				me.mode = napping
			}
			if !f.armsTooLate {
				me.word = me.mode
			}
			me.at = "look again"
			if f.noSecondLook {
				me.at = "wait"
			}
		})
	case "look again": // the rest of arm
		if m.ready(writer) {
			to("disarm")
		} else if f.armsTooLate {
			to("arm late")
		} else {
			to("wait")
		}
	case "arm late":
		step(func(_ *model, me, _ *party) {
			me.word = me.mode
			me.at = "wait"
		})
	case "disarm":
		step(func(_ *model, me, _ *party) {
			me.word = awake
			me.woken = false
			me.at = "look"
		})
	case "wait":
		switch {
		case me.mode == asleep && me.bytes > 0: // sleep: the socket's Read
			step(func(_ *model, me, _ *party) {
				me.bytes = 0
				me.at = "arm"
			})
		case me.mode == napping && me.word != napping, me.mode == napping && me.woken: // FutexWait
			to("disarm")
		case me.mode == napping && !f.noTimeout:
			to("disarm")
		}
	case "publish": // Publish, Take
		step(func(m *model, me, _ *party) {
			if writer {
				m.tail++
			} else {
				m.head++
			}
			me.at = "hear"
			if f.looksTooEarly && writer {
				me.at = "ring"
			}
		})
	case "hear early":
		step(func(_ *model, me, peer *party) {
			me.heard = peer.word
			me.at = "publish"
		})
	case "hear": // ring: the load, and Wanted
		step(func(m *model, me, peer *party) {
			me.heard = peer.word
			me.at = "ring"
			if !writer && m.head < m.want {
				me.heard = awake
			}
		})
	case "ring": // ring: the compare-and-swap, and the system call
		step(func(m *model, me, peer *party) {
			if me.heard != awake && peer.word == me.heard {
				peer.word = awake
				if me.heard == napping {
					peer.woken = peer.at == "wait"
				} else {
					peer.bytes++
				}
			}
			me.at = "look"
			if m.ended && writer {
				me.at = "done"
			}
		})
	case "end": // endWriting
		step(func(m *model, me, _ *party) {
			m.ended = true
			me.at = "hear"
		})
	}
	return next
}

// search returns a state in which somebody waits for ever, if there is one, and how many
// states it has seen.
func search(f flaws) (stuck *model, states int) {
	start := model{reader: party{at: "look"}, writer: party{at: "look"}}
	seen := map[model]bool{start: true}
	for todo := []model{start}; len(todo) > 0; {
		m := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		next := append(m.steps(true, f), m.steps(false, f)...)
		if len(next) == 0 && (m.reader.at != "done" || m.writer.at != "done") {
			return &m, len(seen)
		}
		for _, n := range next {
			if !seen[n] {
				seen[n] = true
				todo = append(todo, n)
			}
		}
	}
	return nil, len(seen)
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

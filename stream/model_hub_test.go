package stream

import "testing"

// A hubModel is two connections whose goroutines wait for a hub, the two goroutines at the other end that wake them,
// and the hub, as a state of all words. All interleavings are searched, as in model_test.go. Every step is one access
// to shared memory, one system call, or what is done under one lock.
type hubModel struct {
	conns [2]hubConn
	state uint32 // of the hub, in the arena
	bytes int8   // on its bell
	at    string // of the hub
	found [2]bool
}

type hubConn struct {
	waiter, caller string
	word           uint32
	ready          bool // the caller has published
	marked         bool
	waits, token   bool // waiting, and wake
}

type hubFlaws struct {
	noSecondLook bool // the hub does not look at the marks again after it has said that it sleeps
	looksFirst   bool // the caller reads the hub's state before it marks
	restsBlindly bool // the waiter does not look again under the lock
}

// steps returns what may follow.
func (m hubModel) steps(f hubFlaws) (next []hubModel) {
	for i := range m.conns {
		if n := m; n.waits(i, f) {
			next = append(next, n)
		}
		if n := m; n.calls(i, f) {
			next = append(next, n)
		}
	}
	if n := m; n.hub(f) {
		next = append(next, n)
	}
	return next
}

// waits is a step of doze and rest.
func (m *hubModel) waits(i int, f hubFlaws) bool {
	c := &m.conns[i]
	switch c.waiter {
	case "arm":
		c.word = listed
		c.waiter = "look"
	case "look":
		c.waiter = "rest"
		if c.ready {
			c.waiter = "done"
		}
	case "rest":
		switch {
		case c.ready && !f.restsBlindly:
			c.waiter = "arm"
		default:
			c.waits = true
			c.waiter = "sleep"
		}
	case "sleep":
		if !c.token {
			return false
		}
		c.token = false
		c.waiter = "arm"
	default:
		return false
	}
	return true
}

// calls is a step of put, ring and call.
func (m *hubModel) calls(i int, f hubFlaws) bool {
	c := &m.conns[i]
	switch c.caller {
	case "publish":
		c.ready = true
		c.caller = "ring"
	case "ring":
		c.caller = "done"
		if c.word == listed {
			c.word = awake
			c.caller = "mark"
			if f.looksFirst {
				c.caller = "call first"
			}
		}
	case "call first":
		c.caller = "mark late"
		m.poke()
	case "mark", "mark late":
		c.marked = true
		if c.caller == "mark" {
			c.caller = "call"
		} else {
			c.caller = "done"
		}
	case "call":
		m.poke()
		c.caller = "done"
	default:
		return false
	}
	return true
}

func (m *hubModel) poke() {
	if m.state == dormant {
		m.state = looking
		m.bytes++
	}
}

// hub is a step of run.
func (m *hubModel) hub(f hubFlaws) bool {
	switch m.at {
	case "take 0", "take 1":
		i := int(m.at[5] - '0')
		m.found[i] = m.conns[i].marked
		m.conns[i].marked = false
		m.at = "take 1"
		if i == 1 {
			m.at = "wake"
		}
	case "wake":
		m.at = "arm"
		for i := range m.conns {
			c := &m.conns[i]
			if m.found[i] {
				m.at = "take 0"
				if c.waits {
					c.waits = false
					c.token = true
				}
			}
		}
	case "arm":
		m.state = dormant
		m.at = "look 0"
		if f.noSecondLook {
			m.at = "sleep"
		}
	case "look 0", "look 1":
		i := int(m.at[5] - '0')
		switch {
		case m.conns[i].marked:
			m.state = looking
			m.at = "take 0"
		case i == 0:
			m.at = "look 1"
		default:
			m.at = "sleep"
		}
	case "sleep":
		if m.bytes == 0 {
			return false
		}
		m.bytes = 0
		m.at = "take 0"
	}
	return true
}

// searchHub returns a state in which somebody waits for ever, if there is one, and how many it has seen.
func searchHub(f hubFlaws) (stuck *hubModel, states int) {
	c := hubConn{waiter: "arm", caller: "publish"}
	start := hubModel{conns: [2]hubConn{c, c}, state: looking, at: "take 0"}
	states = reach(start, func(m hubModel) (next []hubModel, ok bool) {
		next = m.steps(f)
		if len(next) == 0 && (m.conns[0].waiter != "done" || m.conns[1].waiter != "done") {
			stuck = &m
		}
		return next, stuck == nil
	})
	return stuck, states
}

// No mark is lost, whatever happens when; and the search finds hubs that lose some.
func TestNoMarkIsLost(t *testing.T) {
	stuck, states := searchHub(hubFlaws{})
	if stuck != nil {
		t.Errorf("stuck in %+v", *stuck)
	}
	t.Logf("%d states", states)
	for _, f := range []hubFlaws{{noSecondLook: true}, {looksFirst: true}, {restsBlindly: true}} {
		if stuck, _ := searchHub(f); stuck == nil {
			t.Errorf("the search does not find that %+v loses wake-ups", f)
		}
	}
}

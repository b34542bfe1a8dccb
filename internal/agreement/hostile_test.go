package agreement

import (
	"encoding/binary"
	"testing"
)

// TestParseRefuses: bytes that are no message of the group are refused, each field for itself.
func TestParseRefuses(t *testing.T) {
	const n = 3
	without := Message{Number: 1, Round: 1, best: estimate{size: -1}}
	with := Message{Number: 1, Round: 1, best: estimate{Value{And: 5, Dead: Set{2}}, 1}}
	for _, m := range []Message{without, with} {
		good := m.Append(nil, n)
		if _, err := Parse(good, n); err != nil {
			t.Fatal(err)
		}
		refused := func(what string, b []byte) {
			if _, err := Parse(b, n); err == nil {
				t.Errorf("%s: %x is taken", what, b)
			}
		}
		put := func(at int, v uint64) []byte {
			return append(binary.LittleEndian.AppendUint64(append([]byte(nil), good[:at]...), v), good[at+8:]...)
		}
		refused("cut", good[:len(good)-1])
		refused("longer", append(append([]byte(nil), good...), make([]byte, 8)...))
		refused("number 0", put(0, 1<<32))
		refused("a round too many", put(0, 1|2*maxRounds<<32))
		refused("unknown flags", put(0, 1|1<<32|2<<48))
		refused("a word that is not 0", put(36, 1))
		refused("a view that the group does not have", put(headSize, 1<<n))
		refused("a view of as many dead as there are members", put(24, n))
		if m.best.size < 0 {
			for at := 24; at < headSize; at += 4 {
				refused("part of an estimate", put(min(at, headSize-8), 1<<(8*uint(at-min(at, headSize-8)))))
			}
		} else {
			refused("dead that the group does not have", put(headSize+8, 1<<n))
		}
	}
}

// TestSides: of two members that take each other for dead that one goes on with whose side the first of all members
// is; if it is with both, they go on.
func TestSides(t *testing.T) {
	for _, c := range []struct {
		me, from     int
		dead, theirs Set
		excluded     bool
	}{
		{0, 2, Set{0b1100}, Set{0b0011}, false},
		{2, 0, Set{0b0011}, Set{0b1100}, true},
		{2, 1, Set{0b0010}, Set{0b0100}, false},
		{2, 1, nil, Set{0b0100}, true},
	} {
		a := New(4, c.me)
		for place := range 4 {
			if c.dead.Has(place) {
				a.Down(place)
			}
		}
		a.Receive(c.from, Message{Number: 1, Round: 1, Dead: c.theirs, best: estimate{size: -1}})
		if a.Excluded() != c.excluded {
			t.Errorf("member %d, of which member %d says %b: %v", c.me, c.from, c.theirs, a.Excluded())
		}
	}
}

// TestHearsay: only members that are new among the dead are told so, once; a number that no member can have reached
// is not kept; and a member that proposes waits for another one.
func TestHearsay(t *testing.T) {
	a := New(4, 0)
	if _, ok := a.Awaits(); ok {
		t.Error("it waits before it has proposed")
	}
	a.Down(3)
	a.TakeOutgoing()
	a.Receive(1, Message{Number: 1, Round: 1, Dead: Set{0b1100}, best: estimate{size: -1}})
	var told []int
	for _, o := range a.TakeOutgoing() {
		if o.Excludes() {
			told = append(told, o.To)
		}
	}
	if len(told) != 1 || told[0] != 2 {
		t.Errorf("told: %v", told)
	}
	before := len(a.open)
	a.Receive(1, Message{Number: 1 << 30, Round: 1, Dead: Set{0b1100}, best: estimate{size: -1}})
	if len(a.open) != before {
		t.Error("it keeps an impossible number")
	}
	a.Propose(1, 1)
	if place, ok := a.Awaits(); !ok || place != 1 {
		t.Errorf("it waits for %d, %v", place, ok)
	}
}

package amt

import (
	"fmt"
	"reflect"
	"testing"
)

// bring lets a sender send so many messages.
func bring(a *Auto, sender, messages int) {
	for range messages {
		a.Arrived(sender, 100)
	}
}

// A sender that grows frequent gets a ring; a sender that has become silent loses its ring
// when others need the memory.
func TestAutoGivesAndTakes(t *testing.T) {
	a := NewAuto(2)
	bring(a, 7, 100)
	bring(a, 3, 2)
	if c := a.Decide(); !reflect.DeepEqual(c, []Change{{7, true, 100}}) || !a.Own(7) || a.Own(3) {
		t.Fatal(c)
	}
	for range 20 { // no rank sends: no sender loses its ring
		if c := a.Decide(); c != nil {
			t.Fatal(c)
		}
	}
	var all []Change
	for range 20 {
		bring(a, 3, 100)
		all = append(all, a.Decide()...)
	}
	if !reflect.DeepEqual(all, []Change{{7, false, 100}, {3, true, 100}}) {
		t.Error(all)
	}
}

// Senders that send alike do not take rings from each other, however they swing.
func TestAutoHysteresis(t *testing.T) {
	a := NewAuto(2)
	changes := 0
	for look := range 100 {
		for sender := range 5 {
			bring(a, sender, 50+20*((look+sender)%2))
		}
		c := a.Decide()
		if changes += len(c); look > 0 && len(c) > 0 {
			t.Errorf("look %d: %v", look, c)
		}
	}
	if changes != 2 {
		t.Errorf("%d changes", changes)
	}
}

// When all rings are taken, a rank that sends twice as much gets that of the least.
func TestAutoReplaces(t *testing.T) {
	a := NewAuto(2)
	bring(a, 1, 100)
	bring(a, 2, 120)
	a.Decide()
	for range 3 {
		bring(a, 1, 100)
		bring(a, 2, 120)
		bring(a, 3, 150)
		if c := a.Decide(); c != nil {
			t.Fatal(c)
		}
	}
	bring(a, 1, 100)
	bring(a, 2, 120)
	bring(a, 3, 600)
	if c := a.Decide(); !reflect.DeepEqual(c, []Change{{1, false, 100}, {3, true, 100}}) {
		t.Error(c)
	}
}

// The dead give their rings back, and nobody has more than there are.
func TestAutoBounds(t *testing.T) {
	a := NewAuto(1)
	bring(a, 1, 100)
	a.Decide()
	a.Down(1)
	a.Down(9)
	bring(a, 2, 100)
	bring(a, 4, 100)
	if c := a.Decide(); !reflect.DeepEqual(c, []Change{{2, true, 100}}) {
		t.Error(c)
	}
	none := NewAuto(0)
	bring(none, 1, 1000)
	if c := none.Decide(); c != nil {
		t.Error(c)
	}
	for sender := range 1000 { // a sender of one message is forgotten
		a.Arrived(sender, 8)
	}
	for range 12 {
		a.Decide()
	}
	if len(a.senders) > 1 {
		t.Errorf("%d senders are remembered", len(a.senders))
	}
}

// The same calls lead to the same decisions, and the changes add up to the owners of rings.
func TestAutoIsDeterministic(t *testing.T) {
	run := func() (text string) {
		a := NewAuto(4)
		own := map[int]bool{}
		x := uint32(1)
		for look := range 300 {
			for range 200 {
				x = x*1664525 + 1013904223
				a.Arrived(int(x>>28)*(look/100+1)%23, int(x>>20))
			}
			for _, c := range a.Decide() {
				if own[c.Sender] == c.Own {
					t.Fatalf("look %d: %+v again", look, c)
				}
				if own[c.Sender] = c.Own; !c.Own {
					delete(own, c.Sender)
				}
				text += fmt.Sprint(look, c, " ")
			}
			if len(own) > 4 || len(own) != a.owners {
				t.Fatalf("%d owners, %d counted", len(own), a.owners)
			}
		}
		return text
	}
	a := run()
	b := run()
	if a != b {
		t.Errorf("%s\n%s", a, b)
	}
}

func TestArrivedDoesNotAllocate(t *testing.T) {
	a := NewAuto(4)
	a.Arrived(1, 8)
	if n := testing.AllocsPerRun(100, func() { a.Arrived(1, 8) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

package inbox

import (
	"testing"

	"weft/failure"
)

// A message that was given up may arrive yet: what comes after it must not overtake it,
// until one that began later has arrived. That one which began before has arrived says
// nothing.
func TestNothingOvertakesWhatWasGivenUp(t *testing.T) {
	w := &Way{}
	begin := func() uint64 { return w.depart(0, func() {}) }
	first := begin()
	second := begin()
	w.Ended(second, failure.ErrClosed)
	w.Ended(first, nil)
	if n := w.packets.Load(); n != 1 {
		t.Errorf("%d messages are on their way, not the one that was given up", n)
	}
	w.Ended(begin(), nil)
	if n := w.packets.Load(); n != 0 {
		t.Errorf("%d messages are on their way after one that began last has arrived", n)
	}
}

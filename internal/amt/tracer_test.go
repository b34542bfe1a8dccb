package amt

import "testing"

func TestCountingDoesNotAllocate(t *testing.T) {
	c := NewTracer(Part{Size: 2}, nil)
	c.Add(1, Send, 8)
	if n := testing.AllocsPerRun(100, func() { c.Add(1, Send, 8) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

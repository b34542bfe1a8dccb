package sys

import "testing"

// Each goroutine has a number of its own, which stays the same when its stack moves.
func TestGoroutine(t *testing.T) {
	self := Goroutine()
	seen := map[uintptr]bool{self: true}
	numbers := make(chan uintptr)
	goOn := make(chan struct{})
	const goroutines = 20
	for range goroutines {
		go func() {
			before := Goroutine()
			if deep(1000) != before {
				before = 0
			}
			numbers <- before
			<-goOn
		}()
	}
	for range goroutines {
		n := <-numbers
		if n == 0 || seen[n] {
			t.Errorf("%#x: changed, or another goroutine has it", n)
		}
		seen[n] = true
	}
	close(goOn)
	if Goroutine() != self {
		t.Error("the number of the test has changed")
	}
}

// deep returns the number of the calling goroutine from far down its stack.
func deep(frames int) uintptr {
	var local [64]byte
	if frames == 0 {
		return Goroutine()
	}
	n := deep(frames - 1)
	local[frames%len(local)]++
	return n
}

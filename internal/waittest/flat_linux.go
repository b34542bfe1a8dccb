package waittest

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
)

// Flat calls f over and over, and checks that the process then has no more goroutines, descriptors and mappings than
// before.
func Flat(t testing.TB, f func()) {
	t.Helper()
	const (
		rounds = 30
		noise  = 10 // of Go's runtime, such as mappings of its heap. What leaks once a round is more
	)
	for range 3 { // what is made once for a process
		f()
	}
	runtime.GC()
	before := held(t)
	for range rounds {
		f()
	}
	var after [3]int
	flat := Poll(func() bool { // what has been closed may take a moment to end
		runtime.GC()
		after = held(t)
		return after[0] < before[0]+noise && after[1] < before[1]+noise && after[2] < before[2]+noise
	})
	if !flat {
		stacks := make([]byte, 1<<16)
		t.Fatalf("%d rounds: from %s to %s\n%s", rounds, words(before), words(after), stacks[:runtime.Stack(stacks, true)])
	}
}

func words(h [3]int) string {
	return fmt.Sprintf("%d goroutines, %d descriptors, %d mappings", h[0], h[1], h[2])
}

// held returns how many goroutines, descriptors and mappings the process has.
func held(t testing.TB) [3]int {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return [3]int{runtime.NumGoroutine(), len(fds), strings.Count(string(maps), "\n")}
}

// FlatNames uses names from 0 on, rounds of them and as many again, and checks that the second half has cost no
// goroutines, descriptors and mappings, and at most so many bytes a name, for up to a thousand names: a name may be
// forgotten some time later.
func FlatNames(t testing.TB, rounds, most int, use func(from, to int)) {
	t.Helper()
	use(0, rounds)
	bytes := heap()
	before := held(t)
	use(rounds, 2*rounds)
	var more int
	var after [3]int
	flat := func() bool {
		more = heap() - bytes
		after = held(t)
		ok := more <= most*min(rounds, 1000)+1<<16
		for i := range after {
			ok = ok && after[i] <= before[i]+min(rounds/5, 100) // some names may stay for a while
		}
		return ok
	}
	ok := Poll(flat) // the garbage collector unmaps in its own time
	said := fmt.Sprintf("%d names: %d bytes more, and from %s to %s", rounds, more, words(before), words(after))
	if t.Log(said); !ok {
		t.Error("that is not flat")
	}
}

// heap returns the bytes that are in use.
func heap() int {
	var m runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

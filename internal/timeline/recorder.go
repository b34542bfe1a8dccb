package timeline

import (
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"weft/internal/sys"
)

// A Recorder holds what one rank did last. A nil Recorder means that nothing is recorded:
// the goroutines that record look first.
type Recorder struct {
	host  func() int64 // the clock, where there is no real one
	ticks bool         // the processor's counter is the clock

	calls Ring // under the node's lock

	mu     sync.Mutex
	others Ring              // what is done without the node's lock
	names  map[uint64]string // of what coordinates

	began point
	start time.Time // at about that moment
}

// New returns a recorder that holds so many events of calls of the node, and as many of
// what is done without its lock. Memory is used as they come. Host, where it is not nil, is
// the clock, in nanoseconds.
func New(events int, host func() int64) *Recorder {
	r := &Recorder{host: host, ticks: host == nil && sys.SteadyTicks(), names: map[uint64]string{}}
	r.calls.events = make([]Event, events)
	r.others.events = make([]Event, events)
	r.start = time.Now()
	r.began.Mono = sys.Monotonic()
	r.began = r.point()
	return r
}

// Now reads the recording's clock. Its units are known when the recording ends.
func (r *Recorder) Now() int64 {
	switch {
	case r.ticks:
		return sys.Ticks()
	case r.host != nil:
		return r.host()
	default:
		return r.began.Mono + int64(time.Since(r.start))
	}
}

// Add records an event. The caller holds the node's lock.
func (r *Recorder) Add(e Event) { r.calls.add(e) }

// Share records an event. Any goroutine may call it.
func (r *Recorder) Share(e Event) {
	r.mu.Lock()
	r.others.add(e)
	r.mu.Unlock()
}

// Name gives the ID of what coordinates its name. Any goroutine may call it.
func (r *Recorder) Name(id uint64, name string) {
	const most = 10_000
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.names) < most {
		r.names[id] = strings.Map(printable, name)
	}
}

// printable replaces what no viewer can show.
func printable(c rune) rune {
	if !unicode.IsPrint(c) || c == utf8.RuneError {
		return ' '
	}
	return c
}

// A point is one moment by two clocks.
type point struct {
	Ticks int64 // the recording's
	Mono  int64 // the kernel's monotonic clock, in nanoseconds
}

// point reads both clocks at the same moment, as far as that can be: of several tries the
// one counts during which the least time has passed.
func (r *Recorder) point() (best point) {
	if !r.ticks {
		now := r.Now()
		return point{now, now}
	}
	least := int64(-1)
	for range 16 {
		before := sys.Ticks()
		mono := sys.Monotonic()
		after := sys.Ticks()
		if took := after - before; least < 0 || took < least {
			least = took
			best = point{before + took/2, mono}
		}
	}
	return best
}

// A Ring holds the last events. Its user makes sure that no other goroutine uses it meanwhile.
type Ring struct {
	events []Event // a number that is a power of two
	next   uint64  // events so far
}

// add adds an event, in the place of the oldest if the ring is full. Its length is a power of two.
func (r *Ring) add(e Event) {
	r.events[r.next&uint64(len(r.events)-1)] = e
	r.next++
}

// held returns the events that are left, oldest first, and how many came before.
func (r *Ring) held() (events []Event, dropped uint64) {
	n := uint64(len(r.events))
	if r.next <= n {
		return r.events[:r.next], 0
	}
	at := r.next & (n - 1)
	events = make([]Event, 0, n)
	return append(append(events, r.events[at:]...), r.events[:at]...), r.next - n
}

// The bounds of what a Recorder holds.
const (
	mostEvents  = 1 << 20
	leastEvents = 1 << 12
	jobEvents   = 1 << 22
)

// Capacity returns how many events each rank of a job holds: the fewer the more ranks there
// are, so that the file of the job has a size that can be looked at. It is a power of two.
func Capacity(ranks int) int {
	n := mostEvents
	for n > leastEvents && n*ranks > jobEvents {
		n /= 2
	}
	return n
}

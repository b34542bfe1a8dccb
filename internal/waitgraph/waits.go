package waitgraph

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Waits are waits of a process of which its node knows nothing. Any goroutine may use them. The zero value is ready.
type Waits struct {
	mu    sync.Mutex
	open  map[*OpenWait]bool
	lists map[int]func() []Wait // of libraries, by the channel on which they receive
}

// An OpenWait is a wait that has not ended.
type OpenWait struct {
	kind, name string
	since      time.Duration
}

// Begin notes a wait, and End that it is over.
func (w *Waits) Begin(kind, name string, now time.Duration) *OpenWait {
	o := &OpenWait{kind, name, now}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == nil {
		w.open = map[*OpenWait]bool{}
	}
	w.open[o] = true
	return o
}

// End is told that a wait is over.
func (w *Waits) End(o *OpenWait) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, o)
}

// List has Tell report the waits that f returns in place of receives on a channel: a library receives there for them.
func (w *Waits) List(channel int, f func() []Wait) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lists == nil {
		w.lists = map[int]func() []Wait{}
	}
	w.lists[channel] = f
}

// Tell puts the waits of libraries into a report. They last as long as the receive on the library's channel.
func (w *Waits) Tell(r *Report) {
	w.mu.Lock()
	lists := maps.Clone(w.lists)
	w.mu.Unlock()
	for _, channel := range slices.Sorted(maps.Keys(lists)) {
		seconds := 0.0
		call := Receives(channel)
		r.Waits = slices.DeleteFunc(r.Waits, func(wait Wait) bool {
			is := wait.For == "receive" && wait.Call == call
			if is {
				seconds = max(seconds, wait.Seconds)
			}
			return is
		})
		for _, wait := range lists[channel]() {
			wait.Seconds = seconds
			r.Waits = append(r.Waits, wait)
		}
	}
}

// Receives returns the Call of a wait for messages on a channel.
func Receives(channel int) string { return fmt.Sprintf("channel %d", channel) }

// Report adds the waits of a kind to a report, the longest first.
func (w *Waits) Report(kind string, r *Report, now time.Duration) {
	w.mu.Lock()
	open := slices.Collect(maps.Keys(w.open))
	w.mu.Unlock()
	open = slices.DeleteFunc(open, func(o *OpenWait) bool { return o.kind != kind })
	slices.SortFunc(open, func(a, b *OpenWait) int { return cmp.Compare(a.since, b.since) })
	const most = 100
	for _, o := range open[:min(len(open), most)] {
		r.Waits = append(r.Waits, Wait{For: kind, Name: o.name, Rank: AnyRank, Seconds: (now - o.since).Seconds()})
	}
}

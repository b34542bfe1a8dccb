package web

import (
	"slices"
	"time"

	"weft/internal/counters"
	"weft/internal/waitgraph"
)

// A State is a job as the page shows it.
type State struct {
	Name    string  // the program's, without a path
	Title   string  // the program and its arguments
	Live    bool    // the job runs, so the page asks again
	Seconds float64 // since the job began, or length of a recording
	Missing string  `json:",omitempty"` // what is unknown, in words
	Ranks   []Rank
	Pairs   []Pair // that have exchanged something
	Waits   []waitgraph.Edge
	Stuck   []string // deadlocks, in words
	Things  []waitgraph.ObjectState
	TimesOf string // what Pair.Times are, in words
}

// A Rank is one process of the job.
type Rank struct {
	Host  string
	PID   int    `json:",omitempty"`
	Ended string `json:",omitempty"` // why it has ended, or ""
	Stuck bool   `json:",omitempty"` // it belongs to a deadlock
	Doing string // what it waits for, in words; "" if it computes

	InWaits uint64 `json:",omitempty"` // ns in waits that have ended, of all goroutines

	Waited []counters.WaitCounts `json:"-"` // by operation; served by Detail only
}

// Classes returns the histogram of times in nanoseconds, with a class for each doubling, without empty classes.
func Classes(times []float64) (list []counters.Class) {
	for _, t := range slices.Sorted(slices.Values(times)) {
		if n := len(list); n > 0 && t < float64(list[n-1].Below) {
			list[n-1].Count++
			continue
		}
		below := 1.0
		for below <= t && below < 1<<62 {
			below *= 2
		}
		list = append(list, counters.Class{Below: time.Duration(below), Count: 1})
	}
	return list
}

// A Detail is what the page shows only of the chosen pair: the State would be too long with it.
type Detail struct {
	Times  []counters.Class      // of messages between the pair, or of its round trips
	Waited []counters.WaitCounts // of the rank that sends
}

// detail returns the Detail of a pair. A rank that does not exist has none.
func (s *State) detail(from, to int) (d Detail) {
	if from >= 0 && from < len(s.Ranks) {
		d.Waited = s.Ranks[from].Waited
	}
	for i := range s.Pairs {
		if p := &s.Pairs[i]; p.From == from && p.To == to {
			d.Times = p.Times
		}
	}
	return d
}

// A Pair is what one rank has sent to another. Unknown numbers are 0.
type Pair struct {
	From, To  int
	Messages  uint64
	Bytes     uint64
	Packets   uint64  `json:",omitempty"`
	Resent    uint64  `json:",omitempty"` // packets
	Latency   float64 `json:",omitempty"` // median of messages, in nanoseconds
	Transport string  `json:",omitempty"`
	Why       string  `json:",omitempty"` // why this transport was chosen

	Times []counters.Class `json:"-"` // served by Detail only
}

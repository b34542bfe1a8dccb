package web

import (
	"math"
	"slices"
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
	Waits   []Wait
	Stuck   []string // deadlocks, in words
	Things  []Thing
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

	Waited []Waited `json:"-"` // by operation; served by Detail only
}

// Waited is what waits for one kind of operation have cost a rank.
type Waited struct {
	Operation string
	Count     uint64
	Slept     uint64 // of these, how many slept
	Polled    uint64 // ns
	Asleep    uint64 // ns
}

// A Class of a histogram counts the times that are not in an earlier one.
type Class struct {
	Below float64 // ns; 0: all that are left
	Count uint64
}

// Classes returns the histogram of times in nanoseconds, with a class for each doubling, without empty classes.
func Classes(times []float64) (list []Class) {
	for _, t := range slices.Sorted(slices.Values(times)) {
		if n := len(list); n > 0 && t < list[n-1].Below {
			list[n-1].Count++
			continue
		}
		below := 1.0
		for below <= t && below < math.MaxInt64 {
			below *= 2
		}
		list = append(list, Class{Below: below, Count: 1})
	}
	return list
}

// A Detail is what the page shows only of the chosen pair: the State would be too long with it.
type Detail struct {
	Times  []Class  // of messages between the pair, or of its round trips
	Waited []Waited // of the rank that sends
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

	Times []Class `json:"-"` // served by Detail only
}

// A Wait is an edge of the wait-for graph.
type Wait struct {
	From, To int
	For      string
	Seconds  float64
	Stuck    bool `json:",omitempty"`
}

// A Thing is a lock, a barrier or the like, with the ranks that hold it up.
type Thing struct {
	What, Name string
	Phase      uint64 `json:",omitempty"` // of a barrier: the phase that ranks wait for
	Arrived    int    `json:",omitempty"`
	Members    int    `json:",omitempty"`
	Last       []int  `json:",omitempty"` // ranks that have not arrived at it
	Holders    []int  `json:",omitempty"`
	Queue      []int  `json:",omitempty"`
}

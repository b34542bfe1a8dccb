package web

// A State is a job as the page shows it.
type State struct {
	Title   string  // the program and its arguments
	Live    bool    // it runs: the page asks again
	Seconds float64 // since it began, or of a recording
	Missing string  `json:",omitempty"` // what is not known, in words
	Ranks   []Rank
	Pairs   []Pair // that have exchanged something
	Waits   []Wait
	Stuck   []string // deadlocks, in words
	Things  []Thing
}

// A Rank is one process of the job.
type Rank struct {
	Host  string
	PID   int    `json:",omitempty"`
	Ended string `json:",omitempty"` // why it is not there any more
	Stuck bool   `json:",omitempty"` // it waits for good
	Doing string // what it waits for, in words; "" if it computes
}

// A Pair is what one rank has sent to another. Numbers that are not known are 0.
type Pair struct {
	From, To  int
	Messages  uint64
	Bytes     uint64
	Packets   uint64  `json:",omitempty"`
	Resent    uint64  `json:",omitempty"` // packets
	Latency   float64 `json:",omitempty"` // ns, of a message, half of them took less
	Transport string  `json:",omitempty"`
	Why       string  `json:",omitempty"` // that one was picked
}

// A Wait is an edge of the wait-for graph.
type Wait struct {
	From, To int
	For      string
	Seconds  float64
	Stuck    bool `json:",omitempty"`
}

// A Thing is a lock, a barrier or the like, with those it stands still for.
type Thing struct {
	What, Name string
	Phase      uint64 `json:",omitempty"` // of a barrier, that somebody waits for
	Arrived    int    `json:",omitempty"`
	Members    int    `json:",omitempty"`
	Last       []int  `json:",omitempty"` // that have not arrived at it
	Holders    []int  `json:",omitempty"`
	Queue      []int  `json:",omitempty"`
}

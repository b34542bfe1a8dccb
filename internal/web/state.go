package web

// A State is a job as the page shows it.
type State struct {
	Title   string  // the program and its arguments
	Live    bool    // the job runs, so the page asks again
	Seconds float64 // since the job began, or length of a recording
	Missing string  `json:",omitempty"` // what is unknown, in words
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
	Ended string `json:",omitempty"` // why it has ended, or ""
	Stuck bool   `json:",omitempty"` // it belongs to a deadlock
	Doing string // what it waits for, in words; "" if it computes
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

package counters

import (
	"cmp"
	"slices"
	"time"
)

// A Snapshot is what a page said at one moment. The texts in it are printable.
type Snapshot struct {
	Rank    int       `json:"rank"`
	Size    int       `json:"size"` // ranks of the job
	PID     int       `json:"pid"`
	Job     string    `json:"job"`
	Host    string    `json:"host"`
	Program string    `json:"program"`
	Started time.Time `json:"started"`
	Updated time.Time `json:"updated"` // when Dropped, Memory, Mapped and Transports were written last

	Sent        Flow    `json:"sent"` // to all peers
	Received    Flow    `json:"received"`
	SentDirect  uint64  `json:"sent_direct_bytes"` // that did not go in packets; see PeerCounts
	GotDirect   uint64  `json:"received_direct_bytes"`
	Dropped     Dropped `json:"dropped"`
	Strange     uint64  `json:"strange_packets"` // received before their senders were known, or from none
	StrangeSize uint64  `json:"strange_bytes"`
	Memory      uint64  `json:"memory_bytes"`
	Mapped      uint64  `json:"mapped_bytes"`
	Parked      int     `json:"parked"` // goroutines that sleep until something has come

	Transports []TransportCounts `json:"transports,omitempty"`
	Waits      []WaitCounts      `json:"waits,omitempty"`
	Waiting    []Waiting         `json:"waiting,omitempty"` // of those that sleep, at most MaxWaiting
	Errors     []Error           `json:"errors,omitempty"`
	Peers      []PeerCounts      `json:"peers,omitempty"` // by rank
}

// TransportCounts are what a transport has counted.
type TransportCounts struct {
	Name   string `json:"name"`
	Memory uint64 `json:"memory_bytes"`
	Local
}

// WaitCounts are what waits for one kind of operation have cost.
type WaitCounts struct {
	Operation string `json:"operation"`
	Wait
}

// A Waiting is one goroutine that sleeps until something has come.
type Waiting struct {
	Operation string    `json:"operation"`
	Peer      int       `json:"peer"` // the rank that it needs; -1: any, or that is not known here
	Since     time.Time `json:"since"`
	Phase     uint64    `json:"phase,omitempty"` // of a barrier
	Name      string    `json:"name,omitempty"`  // of what coordinates, or of a region
}

// An Error is one kind of error, and how often it has been met.
type Error struct {
	Text  string    `json:"text"`
	Peer  int       `json:"peer"` // -1: none
	Count uint64    `json:"count"`
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
}

// PeerCounts are what a rank has counted of one peer.
type PeerCounts struct {
	Rank      int           `json:"rank"`
	Transport string        `json:"transport,omitempty"`
	State     string        `json:"state"`
	MTU       uint64        `json:"mtu,omitempty"`
	Window    uint64        `json:"window,omitempty"`
	Flying    uint64        `json:"flying,omitempty"`
	RTT       time.Duration `json:"rtt_ns,omitempty"`
	RTTVar    time.Duration `json:"rtt_variation_ns,omitempty"`
	Sent      Flow          `json:"sent"`
	Received  Flow          `json:"received"`
	Shortened uint64        `json:"shortened,omitempty"`

	// Bytes that did not go in packets: of long messages, and of access to mapped memory of LongAccess
	// bytes and more.
	SentDirect uint64 `json:"sent_direct_bytes,omitempty"`
	GotDirect  uint64 `json:"received_direct_bytes,omitempty"`

	RTTTotal   time.Duration `json:"rtt_total_ns,omitempty"`
	RoundTrips []Class       `json:"round_trips,omitempty"` // those that are not empty; RTTTotal is of all of them
}

// A Class of a histogram counts the times that are not in an earlier one.
type Class struct {
	Below time.Duration `json:"below_ns"` // 0: all that are left
	Count uint64        `json:"count"`
}

// Clean makes a snapshot that another process has sent one whose texts can be printed.
func (s *Snapshot) Clean() {
	s.Job = Printable(s.Job)
	s.Host = Printable(s.Host)
	s.Program = Printable(s.Program)
	for i := range s.Transports {
		s.Transports[i].Name = Printable(s.Transports[i].Name)
	}
	for i := range s.Waits {
		s.Waits[i].Operation = Printable(s.Waits[i].Operation)
	}
	for i := range s.Waiting {
		w := &s.Waiting[i]
		w.Operation = Printable(w.Operation)
		w.Name = Printable(w.Name)
		w.Peer = max(w.Peer, -1)
	}
	for i := range s.Errors {
		s.Errors[i].Text = Printable(s.Errors[i].Text)
		s.Errors[i].Peer = max(s.Errors[i].Peer, -1)
	}
	for i := range s.Peers {
		p := &s.Peers[i]
		p.Transport = Printable(p.Transport)
		p.State = Printable(p.State)
		p.Rank = max(p.Rank, 0)
	}
}

// Shorten leaves only so many peers, those with which most has been exchanged, and no
// histograms.
func (s *Snapshot) Shorten(peers int) {
	slices.SortStableFunc(s.Peers, func(a, b PeerCounts) int {
		return cmp.Compare(b.Sent.Bytes+b.Received.Bytes, a.Sent.Bytes+a.Received.Bytes)
	})
	s.Peers = s.Peers[:min(len(s.Peers), peers)]
	for i := range s.Peers {
		s.Peers[i].RoundTrips = nil
	}
}

package top

import (
	"cmp"
	"path/filepath"
	"slices"
	"time"

	"weft/internal/counters"
	"weft/internal/counters/directory"
	"weft/internal/launch"
	"weft/internal/sys"
	"weft/internal/waitgraph"
)

// A Sample is the state of all jobs, and of all servers of streams, at one moment.
type Sample struct {
	Time    time.Time
	Jobs    []*Job
	Servers []*Server
}

// Nothing is what is said where a sample is empty.
const Nothing = "no job runs here, and no process listens for streams in this network namespace"

// A Job is one job of a sample.
type Job struct {
	Name      string    `json:"job"`                // in the pages; "" if no page is here
	Launcher  int       `json:"launcher,omitempty"` // the process that has been asked: weft run, or rank 0
	By        string    `json:"by,omitempty"`       // the launcher; "" for weft run
	Program   string    `json:"program"`
	Size      int       `json:"size"`
	Started   time.Time `json:"started"`
	Ranks     []*Rank   `json:"ranks"`
	Pairs     []Pair    `json:"pairs,omitempty"` // the pair with the highest rate first
	Deadlocks []string  `json:"deadlocks,omitempty"`
}

// A Rank is one rank of a job.
type Rank struct {
	Rank   int                `json:"rank"`
	Host   string             `json:"host"`
	PID    int                `json:"pid"`
	State  string             `json:"state"`
	CPU    float64            `json:"cpu"` // processors used since the previous sample
	Rates  *Rates             `json:"rates,omitempty"`
	Waits  []waitgraph.Wait   `json:"waits,omitempty"`
	Needs  string             `json:"needs,omitempty"` // what it waits for, and which ranks can end the wait
	Counts *counters.Snapshot `json:"counts,omitempty"`

	used time.Duration // processor time
}

// The states of a rank.
const (
	Running  = "running"  // it uses a processor, or waits for one
	Sleeping = "sleeping" // it waits for something else
	Stopped  = "stopped"  // a signal or a debugger has stopped it
	Killed   = "killed"   // its process has ended before it left the job
	Ended    = "ended"
	Unknown  = "unknown" // on another host, or in another container
)

// Rates are per second.
type Rates struct {
	Sent     Rate    `json:"sent"`
	Received Rate    `json:"received"`
	Polling  float64 `json:"polling"` // average number of goroutines that poll for packets
	Asleep   float64 `json:"asleep"`  // average number of goroutines that sleep
}

// A Rate is the rate of messages in one direction, per second.
type Rate struct {
	Messages float64 `json:"messages"`
	Packets  float64 `json:"packets"`
	Bytes    float64 `json:"bytes"` // also those that do not go in packets
	Resent   float64 `json:"resent"`
	Lost     float64 `json:"lost"`
	Refused  float64 `json:"refused"`
}

// A Pair is what one rank sends to another.
type Pair struct {
	From      int           `json:"from"`
	To        int           `json:"to"`
	Transport string        `json:"transport"`
	RTT       time.Duration `json:"rtt_ns,omitempty"`
	Messages  uint64        `json:"messages"`
	Bytes     uint64        `json:"bytes"` // also those that did not go in packets
	Resent    uint64        `json:"resent"`
	Rate      *Rate         `json:"rate,omitempty"`
}

// fromPages returns the job that these pages of counters belong to.
func fromPages(name string, pages []directory.Rank) *Job {
	first := pages[0]
	j := &Job{Name: name, Program: first.Program, Size: first.Size, Started: first.Started}
	for _, p := range pages {
		r := &Rank{Rank: p.Rank, Host: p.Host, PID: p.PID, State: Killed, Counts: p.Snapshot}
		if p.Alive {
			r.State, r.used = process(p.PID)
		}
		j.Ranks = append(j.Ranks, r)
		if p.Started.Before(j.Started) {
			j.Started = p.Started
		}
	}
	return j
}

// process returns the state of a process that has not ended.
func process(pid int) (state string, used time.Duration) {
	letter, used, ok := sys.ProcessState(pid)
	switch {
	case !ok:
		return Unknown, 0
	case letter == 'R':
		return Running, used
	case letter == 'T' || letter == 't':
		return Stopped, used
	case letter == 'Z' || letter == 'X':
		return Killed, used
	default:
		return Sleeping, used
	}
}

// merge adds a launcher's answer about its job.
func (s *Sample) merge(st *launch.Status) {
	j := s.jobOf(st)
	if j == nil {
		j = &Job{Size: len(st.Ranks)}
		s.Jobs = append(s.Jobs, j)
	}
	j.Launcher = st.PID
	j.By = counters.Printable(st.By)
	j.Program = filepath.Base(st.Program)
	j.Started = st.Started
	for i := range st.Ranks {
		rep := &st.Ranks[i]
		r := j.rank(rep.Rank)
		if r == nil {
			r = &Rank{Rank: rep.Rank, Host: rep.Host, PID: rep.PID, State: Unknown}
			j.Ranks = append(j.Ranks, r)
		}
		if rep.Ended != "" {
			r.State = Ended
		}
		if !rep.Silent {
			r.Waits = rep.Waits
		}
		if r.Counts == nil {
			r.Counts = rep.Counts
		}
	}
	g := waitgraph.New(st.Ranks)
	j.Deadlocks = g.Deadlocks
	for _, r := range j.Ranks {
		if r.Rank < len(g.Ranks) && len(r.Waits) > 0 {
			r.Needs = g.Needs(r.Rank)
		}
	}
}

// jobOf returns the job that a launcher runs, by the processes of its ranks.
func (s *Sample) jobOf(st *launch.Status) *Job {
	for _, j := range s.Jobs {
		for _, r := range j.Ranks {
			if j.Launcher == 0 && j.Size == len(st.Ranks) && r.Rank < len(st.Ranks) && st.Ranks[r.Rank].PID == r.PID &&
				st.Ranks[r.Rank].Host == r.Host {
				return j
			}
		}
	}
	return nil
}

func (j *Job) rank(number int) *Rank {
	for _, r := range j.Ranks {
		if r.Rank == number {
			return r
		}
	}
	return nil
}

// finish completes a job with what follows from the rest.
func (j *Job) finish(now time.Time) {
	slices.SortFunc(j.Ranks, func(a, b *Rank) int { return cmp.Compare(a.Rank, b.Rank) })
	for _, r := range j.Ranks {
		if r.Counts == nil {
			continue
		}
		if r.Waits == nil && r.State != Ended {
			r.Waits = waitgraph.Asleep(r.Counts, now)
		}
		if r.Needs == "" && len(r.Waits) > 0 {
			r.Needs = r.Waits[0].String()
		}
		for i := range r.Counts.Peers {
			p := &r.Counts.Peers[i]
			if p.Sent.Packets > 0 || p.SentDirect > 0 {
				j.Pairs = append(j.Pairs, Pair{
					From: r.Rank, To: p.Rank, Transport: p.Transport, RTT: p.RTT, Messages: p.Sent.Messages,
					Bytes: p.Sent.Bytes + p.SentDirect, Resent: p.Sent.Resent,
				})
			}
		}
	}
}

package launch

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"weft/internal/bootstrap"
	"weft/internal/control"
	"weft/internal/counters"
	"weft/internal/waitgraph"
)

// weft ps asks a running job what its ranks wait for: the job's launcher, or rank 0 if another launcher has started
// the job.

// A Status is the state of a running job: what its ranks wait for.
type Status struct {
	PID     int    // of weft run, or of rank 0
	By      string `json:",omitempty"` // the launcher; "" for weft run
	Program string
	Args    []string `json:",omitempty"`
	Started time.Time
	Restart int // how often it has been started again
	Ranks   []waitgraph.Report
}

// Listen answers questions about a job with its status, until the returned function is called. The id is unique among
// the jobs of this process. If it cannot listen, the job runs all the same, and weft ps does not show it.
func Listen(id uint64, status func() Status) (stop func()) {
	return control.Listen(control.Jobs, id, func() any { return status() })
}

// Patience is how long a rank may take to say what it waits for.
const Patience = 2500 * time.Millisecond

// Status asks all ranks what they wait for.
func (r *Running) Status() Status {
	s := Status{PID: os.Getpid(), Program: r.job.Program, Args: r.job.Args, Started: r.started, Restart: r.job.Restart,
		Ranks: Ask(r.server)}
	for i := range s.Ranks {
		s.Ranks[i].PID = r.PID(i)
	}
	return s
}

// Ask asks all ranks that a server serves what they wait for.
func Ask(server *bootstrap.Server) (ranks []waitgraph.Report) {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	for rank, text := range server.State(ctx) {
		report := waitgraph.Report{Host: server.Job(rank).Host, Ended: server.Ended(rank)}
		switch {
		case report.Ended != "":
		case text == "":
			report.Silent = true
		default:
			_ = json.Unmarshal([]byte(text), &report)
		}
		report.Rank = rank
		ranks = append(ranks, report)
	}
	return ranks
}

// explain reports what the ranks wait for.
func (r *Running) explain() {
	if r.job.Report != nil {
		_ = waitgraph.New(r.Status().Ranks).WriteText(r.job.Report)
	}
}

// Jobs returns the status of the running jobs of this user, or for root of all users, ordered by process number. A pid
// other than 0 selects the job of this process. The error is about a job that did not answer.
func Jobs(pid int) (jobs []Status, err error) {
	told, err := control.Ask[Status](control.Jobs, pid)
	for i := range told {
		told[i].Value.clean()
		jobs = append(jobs, told[i].Value)
	}
	if len(jobs) == 0 && err == nil && pid != 0 {
		err = fmt.Errorf("weft: process %d runs no job of yours", pid)
	}
	return jobs, err
}

// clean removes control characters, which a terminal would interpret.
func (s *Status) clean() {
	s.By = counters.Printable(s.By)
	s.Program = counters.Printable(s.Program)
	for i := range s.Args {
		s.Args[i] = counters.Printable(s.Args[i])
	}
}

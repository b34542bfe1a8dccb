package launch

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"weft/internal/waitgraph"
)

// A running job can be asked what its ranks wait for: its launcher listens on a
// Unix socket with an abstract name, of which nothing is left when it ends. Only
// its user may ask, and root.

const controlName = "weft-job-"

// A Status is a running job and what its ranks wait for.
type Status struct {
	PID     int // of weft run
	Program string
	Args    []string `json:",omitempty"`
	Started time.Time
	Ranks   []waitgraph.Report
}

// listen answers questions until the returned function is called. A job without
// a control socket runs as well.
func (r *Running) listen() (stop func()) {
	l, err := net.Listen("unix", "@"+controlName+strconv.Itoa(os.Getuid())+"-"+strconv.Itoa(os.Getpid())+"-"+strconv.FormatUint(r.id, 16))
	if err != nil {
		return func() {}
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go r.answer(c)
		}
	}()
	return func() { l.Close() }
}

func (r *Running) answer(c net.Conn) {
	defer c.Close()
	if !allowed(c) {
		return
	}
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	_ = json.NewEncoder(c).Encode(r.Status())
}

// patience is how long a rank may take to say what it waits for.
const patience = time.Second

// Status asks all ranks what they wait for.
func (r *Running) Status() Status {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s := Status{PID: os.Getpid(), Program: r.job.Program, Args: r.job.Args, Started: r.started}
	for rank, text := range r.server.State(ctx) {
		report := waitgraph.Report{Rank: rank, Host: r.hosts[rank], Ended: r.server.Ended(rank)}
		switch {
		case report.Ended != "":
		case text == "":
			report.Silent = true
		default:
			_ = json.Unmarshal([]byte(text), &report)
			report.Rank = rank
		}
		s.Ranks = append(s.Ranks, report)
	}
	return s
}

// explain reports what the ranks wait for.
func (r *Running) explain() {
	if r.job.Report != nil {
		_ = waitgraph.New(r.Status().Ranks).WriteText(r.job.Report)
	}
}

// Jobs returns the running jobs that this user may ask, by the numbers of the
// processes that run them; 0 as pid means all.
func Jobs(pid int) ([]Status, error) {
	f, err := os.Open("/proc/net/unix")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var jobs []Status
	var failed error
	seen := map[string]bool{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) == 0 {
			continue
		}
		name := words[len(words)-1]
		rest, ok := strings.CutPrefix(name, "@"+controlName)
		parts := strings.Split(rest, "-")
		if !ok || len(parts) != 3 || seen[name] || pid != 0 && parts[1] != strconv.Itoa(pid) {
			continue
		}
		seen[name] = true
		s, err := ask(name)
		if err != nil {
			failed = fmt.Errorf("weft: the job of process %s does not answer: %w", parts[1], err)
			continue
		}
		jobs = append(jobs, s)
	}
	if len(jobs) == 0 && failed == nil && pid != 0 {
		failed = fmt.Errorf("weft: process %d runs no job", pid)
	}
	return jobs, failed
}

func ask(name string) (s Status, err error) {
	c, err := net.DialTimeout("unix", name, patience)
	if err != nil {
		return s, err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	err = json.NewDecoder(c).Decode(&s)
	return s, err
}

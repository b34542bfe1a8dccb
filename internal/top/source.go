package top

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"weft/internal/counters/directory"
	"weft/internal/launch"
)

// A Source takes samples of the jobs that this user may see. Its methods may be called by any goroutine.
type Source struct {
	Only string // the process number of a weft run or of a server, or the name of a job; "" for all

	mu     sync.Mutex
	asking bool
	last   answers
}

// answers are what launchers and servers have said last. They are not changed.
type answers struct {
	jobs    []launch.Status
	servers []*Server
	failed  error
}

// Ask asks the launchers of the jobs what their ranks wait for, and the servers of streams for their connections. If
// ranks are stopped it takes seconds.
func (s *Source) Ask() {
	pid, err := strconv.Atoi(s.Only)
	if err != nil {
		pid = 0
	}
	var a answers
	if a.jobs, a.failed = launch.Jobs(pid); len(a.jobs) == 0 && pid != 0 {
		a.failed = nil // the job may have ended
	}
	a.servers, err = Servers(pid)
	a.failed = errors.Join(a.failed, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = a
	s.asking = false
}

// Take takes a sample from the pages of counters and the last answers of launchers, and asks the launchers again in the
// background. The error is about jobs or ranks that could not be asked; the sample has what is known about them.
func (s *Source) Take() (*Sample, error) {
	s.mu.Lock()
	last := s.last
	if !s.asking {
		s.asking = true
		go s.Ask()
	}
	s.mu.Unlock()
	return s.take(last)
}

// TakeNow is Take, but it asks the launchers first and waits for their answers.
func (s *Source) TakeNow() (*Sample, error) {
	s.Ask()
	s.mu.Lock()
	last := s.last
	s.mu.Unlock()
	return s.take(last)
}

func (s *Source) take(told answers) (*Sample, error) {
	now := &Sample{Time: time.Now(), Servers: told.servers}
	failed := []error{told.failed}
	for _, dir := range directory.Jobs() {
		ranks, err := directory.Read(dir)
		failed = append(failed, err)
		if len(ranks) > 0 {
			now.Jobs = append(now.Jobs, fromPages(filepath.Base(dir), ranks))
		}
	}
	for i := range told.jobs {
		now.merge(&told.jobs[i])
	}
	if _, err := strconv.Atoi(s.Only); s.Only != "" && err != nil {
		now.Servers = nil // it is the name of a job
	}
	if s.Only != "" {
		now.Jobs = slices.DeleteFunc(now.Jobs, func(j *Job) bool {
			return j.Name != s.Only &&
				strconv.Itoa(j.Launcher) != s.Only
		})
	}
	for _, j := range now.Jobs {
		j.finish(now.Time)
	}
	slices.SortFunc(now.Jobs,
		func(a, b *Job) int { return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Name, b.Name)) })
	return now, errors.Join(failed...)
}

package top

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"weft/internal/counters/directory"
	"weft/internal/launch"
)

// A Source takes samples of the jobs that this user may see.
type Source struct {
	Only string // the process number of a weft run or of a server, or the name of a job; "" for all
}

// Take takes a sample: from the pages of counters, and by asking the launchers of the jobs what their ranks wait for,
// and the servers of streams for their connections. If ranks are stopped it takes seconds. The error is about jobs or
// ranks that could not be asked; the sample has what is known about them.
func (s *Source) Take() (*Sample, error) {
	pid, err := strconv.Atoi(s.Only)
	named := s.Only != "" && err != nil
	if err != nil {
		pid = 0
	}
	jobs, failed := launch.Jobs(pid)
	if len(jobs) == 0 && pid != 0 {
		failed = nil // the job may have ended
	}
	servers, err := Servers(pid)
	failed = errors.Join(failed, err)
	now := &Sample{Time: time.Now(), Servers: servers}
	for _, dir := range directory.Jobs() {
		ranks, err := directory.Read(dir)
		failed = errors.Join(failed, err)
		if len(ranks) > 0 {
			now.Jobs = append(now.Jobs, fromPages(filepath.Base(dir), ranks))
		}
	}
	for i := range jobs {
		now.merge(&jobs[i])
	}
	if named {
		now.Servers = nil
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
	return now, failed
}

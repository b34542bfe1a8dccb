package weft

import (
	"os"
	"path/filepath"
	"time"

	"weft/internal/counters"
	"weft/internal/counters/directory"
	"weft/internal/engine"
)

// showCounters makes the page of counters that other processes, such as weft top, can read. If that fails the
// process counts in memory of its own.
func (p *Proc) showCounters() {
	if p.job.Size == 1 {
		return // there are no peers
	}
	directory.Sweep()
	f, err := directory.Create(p.job.ID, counters.Identity{
		Rank: p.job.Rank, Size: p.job.Size, PID: os.Getpid(), Started: time.Now().UnixNano(),
		Host: p.job.Host, Program: filepath.Base(os.Args[0]),
	})
	if err == nil {
		p.page = f
	}
}

// hideCounters removes the page.
func (p *Proc) hideCounters() {
	if p.page != nil {
		_ = p.page.Close() // the next process sweeps up what is left
	}
}

// counters returns the page in which the engine counts; nil means memory of its own.
func (p *Proc) counters() *counters.Page {
	if p.page == nil {
		return nil
	}
	return p.page.Page
}

// counts returns the counters that other processes may read, or nil.
func (p *Proc) counts() (s *counters.Snapshot) {
	const peers = 8
	if p.page == nil {
		return nil
	}
	p.node.Engine(func(*engine.Engine) { s, _ = p.page.Snapshot() })
	if s != nil {
		s.Shorten(peers)
	}
	return s
}

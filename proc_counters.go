package weft

import (
	"os"
	"path/filepath"
	"time"

	"weft/internal/counters"
	"weft/internal/counters/directory"
	"weft/internal/engine"
)

// showCounters makes the page in which others can see what this process counts, as weft top does. A process
// without one runs as well: it counts where nobody looks.
func (p *Proc) showCounters() {
	if p.job.Size == 1 {
		return // it has nobody to talk to
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
		_ = p.page.Close() // what is left is swept up by the next
	}
}

// counters returns where the engine counts; nil: where nobody looks.
func (p *Proc) counters() *counters.Page {
	if p.page == nil {
		return nil
	}
	return p.page.Page
}

// holds tells those who look how much memory the program has got here. The Proc's lock is held.
func (p *Proc) holds() {
	total := uint64(0)
	for _, s := range p.shares {
		total += uint64(len(s.Bytes))
	}
	p.node.Hold(total)
}

// counts returns what others may see of what is counted here, or nil.
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

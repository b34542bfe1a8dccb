package stress

import (
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"
)

// strike strikes a rank.
func (d *director) strike(s strike, wakes chan strike) {
	d.moved = time.Now()
	p := d.ranks[s.rank]
	if s.how != stopAll && (p.out || p.stopped || p.struck) || d.ended || d.suspended {
		return
	}
	if d.Verbose {
		fmt.Fprintln(os.Stderr, "stress:", s)
	}
	p.struck = p.struck || s.removes()
	switch s.how {
	case kill:
		_ = syscall.Kill(p.pid, syscall.SIGKILL)
	case stop, outcast:
		p.outcast = s.how == outcast
		d.halt(p)
		time.AfterFunc(s.lasts, func() { wakes <- s })
	case stopAll:
		d.suspended = true
		for _, p := range d.ranks {
			if !p.out && !p.stopped {
				d.halt(p)
			}
		}
		time.AfterFunc(s.lasts, func() { wakes <- s })
	default:
		p.line.tell(note{Kind: noteLeave, Text: s.how})
	}
	if s.removes() {
		d.excused()
	}
}

// halt stops a rank's process. Later, it may be continued or killed.
func (d *director) halt(p *player) {
	p.stopped = true
	_ = syscall.Kill(p.pid, syscall.SIGSTOP)
}

// wake continues ranks that were stopped. An outcast is continued only after the others must have taken it for dead,
// and is told to leave.
func (d *director) wake(s strike, wakes chan strike) {
	d.moved = time.Now()
	early := s.how == outcast && d.moved.Sub(d.resumed) < s.lasts
	if s.how != stopAll && (d.suspended || early) {
		time.AfterFunc(100*time.Millisecond, func() { wakes <- s })
		return
	}
	if s.how == stopAll {
		d.suspended = false
		d.resumed = d.moved
	} else {
		d.ranks[s.rank].outcast = false
	}
	for i, p := range d.ranks {
		if p.out || p.outcast || s.how != stopAll && i != s.rank {
			continue
		}
		if p.stopped {
			p.stopped = false
			p.beat = d.moved
			_ = syscall.Kill(p.pid, syscall.SIGCONT)
		}
		if s.how == outcast {
			p.line.tell(note{Kind: noteLeave, Text: goHomeLast})
		}
	}
}

func (d *director) anyStopped() bool {
	return slices.ContainsFunc(d.ranks, func(p *player) bool { return p.stopped && !p.out })
}

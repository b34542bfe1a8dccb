package stress

import (
	"fmt"
	"os"
	"slices"
	"time"
)

// strike strikes a rank.
func (d *director) strike(s strike) {
	d.moved = d.stage.now()
	p := d.ranks[s.rank]
	if s.how != stopAll && (p.out || p.stopped || p.struck) || d.ended || d.suspended {
		return
	}
	if d.verbose {
		fmt.Fprintln(os.Stderr, "stress:", s)
	}
	p.struck = p.struck || s.removes()
	switch s.how {
	case kill:
		d.stage.kill(s.rank)
	case stop, outcast:
		p.outcast = s.how == outcast
		d.halt(s.rank, s.lasts)
		d.stage.after(s.lasts, func() { d.wake(s) })
	case stopAll:
		d.suspended = true
		for rank, p := range d.ranks {
			if !p.out { // a rank that is stopped stays so
				d.halt(rank, s.lasts)
			}
		}
		d.stage.after(s.lasts, func() { d.wake(s) })
	case cut:
		d.stage.cut(s.rank, s.lasts)
	case cutOff:
		d.stage.cut(s.rank, s.lasts)
		d.stage.after(s.lasts, func() { d.leaves(s.rank) })
	default:
		p.tell(note{Kind: noteLeave, Text: s.how})
	}
	if s.removes() {
		d.excused()
	}
}

// halt stops a rank. Later, it may be continued or killed.
func (d *director) halt(rank int, while time.Duration) {
	d.ranks[rank].stopped = true
	d.stage.stop(rank, while)
}

// wake continues ranks that were stopped. An outcast is continued only after the others must have taken it for dead,
// and is told to leave.
func (d *director) wake(s strike) {
	d.moved = d.stage.now()
	early := s.how == outcast && d.resumed > 0 && d.moved-d.resumed < s.lasts
	if s.how != stopAll && (d.suspended || early) {
		d.stage.after(100*time.Millisecond, func() { d.wake(s) })
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
			d.stage.resume(i)
		}
		if s.how == outcast {
			d.leaves(i)
		}
	}
}

// leaves makes a rank leave that the others must have taken for dead.
func (d *director) leaves(rank int) {
	if p := d.ranks[rank]; !p.out {
		d.stage.bury(rank)
		p.tell(note{Kind: noteLeave, Text: goHomeLast})
	}
}

func (d *director) anyStopped() bool {
	return slices.ContainsFunc(d.ranks, func(p *player) bool { return p.stopped && !p.out })
}

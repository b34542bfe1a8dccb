package stress

import (
	"slices"
	"strings"
	"time"
)

// hear handles a note from a rank, and reports whether the round may have ended with it.
func (d *director) hear(n note) bool {
	p := d.ranks[n.Rank]
	now := time.Now()
	if !p.beat.IsZero() && !p.stopped {
		p.silence = max(p.silence, now.Sub(p.beat))
	}
	p.beat = now
	if n.Kind != noteBeat && n.Kind != noteState {
		d.moved = now
	}
	switch n.Kind {
	case noteHello:
		p.line = n.from
		p.pid = int(n.N)
		return true
	case noteBeat:
		if n.N != p.progress {
			p.progress = n.N
			d.moved = now
		}
	case noteMeet:
		if p.struck && d.met[n.Text] { // the others have not waited for it
			p.line.tell(note{Kind: noteMet, Text: n.Text})
			break
		}
		if !slices.Contains(d.meets[n.Text], n.Rank) {
			d.meets[n.Text] = append(d.meets[n.Text], n.Rank)
		}
		d.meet(n.Text, n.Ranks)
	case noteFound:
		if len(d.broken) == 0 {
			d.all(note{Kind: noteDump}) // while it is known how everything was sent
		}
		d.fail("rank %d: %s", n.Rank, n.Text)
	case noteError:
		d.error(n)
	case noteTimes:
		name, _, _ := strings.Cut(n.Text, ";")
		if d.clocks[name] == nil {
			d.clocks[name] = &clocking{}
		}
		if phase := d.clocks[name].add(n.Text); phase >= 0 {
			d.fail("%s: rank %d or another was over with phase %d before all had arrived", name, n.Rank, phase)
		}
	case noteDone:
		p.done = int(n.N)
		return true
	case noteState:
		d.states += n.Text
	case noteBye: // Main may wait for the others yet
		p.bye = true
		d.all(note{Kind: noteLeft, Rank: n.Rank})
	case noteLost:
		return d.lost(n.Rank)
	}
	return false
}

// error checks an error that a rank has got from weft because another rank is dead.
func (d *director) error(n note) {
	if d.ended {
		return
	}
	if len(n.Ranks) > 0 {
		if p := d.ranks[n.Ranks[0]]; !p.struck && !d.ranks[n.Rank].struck {
			if silence := time.Since(p.beat); p.silence > d.plan.Liveness/2 || !p.stopped && silence > d.plan.Liveness/2 {
				return // the machine has kept it from running
			}
			d.fail("rank %d: %s, but nothing has happened to it", n.Rank, n.Text)
		}
		return
	}
	for _, p := range d.ranks {
		if p.struck {
			return
		}
	}
	d.fail("rank %d: %s, and nothing has happened to any rank", n.Rank, n.Text)
}

// lost records that a rank's process has ended.
func (d *director) lost(rank int) bool {
	p := d.ranks[rank]
	p.out = true
	if !p.struck && !p.bye && d.ps == "" {
		d.fail("rank %d has ended by itself in round %d", rank, d.round)
	}
	p.struck = true
	d.excused()
	return true
}

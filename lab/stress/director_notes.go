package stress

import (
	"slices"
	"strings"
)

// hear handles a note from a rank.
func (d *director) hear(n note) {
	p := d.ranks[n.Rank]
	if p.out {
		return // the last words of a process that was killed
	}
	now := d.stage.now()
	if p.beat > 0 && !p.stopped {
		p.silence = max(p.silence, now-p.beat)
	}
	p.beat = now
	if n.Kind != noteBeat && n.Kind != noteState {
		d.moved = now
	}
	switch n.Kind {
	case noteHello:
		p.tell = n.tell
		p.pid = int(n.N)
		d.goOn()
	case noteBeat:
		if n.N != p.progress {
			p.progress = n.N
			d.moved = now
		}
	case noteMeet:
		d.arrive(p, n)
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
	case noteWords:
		d.words(n)
	case noteMatches:
		d.matches(n)
	case noteDone:
		p.done = int(n.N)
		d.goOn()
	case noteState:
		d.states += n.Text
	case noteBye: // Main may wait for the others yet
		p.bye = true
		d.all(note{Kind: noteLeft, Rank: n.Rank})
	case noteLost:
		d.lost(n.Rank)
	}
}

// arrive notes that a rank has come to a meeting place.
func (d *director) arrive(p *player, n note) {
	if p.struck && d.met[n.Text] { // the others have not waited for it
		p.tell(note{Kind: noteMet, Text: n.Text})
		return
	}
	m := d.meets[n.Text]
	m.members = n.Ranks
	if !slices.Contains(m.arrived, n.Rank) {
		m.arrived = append(m.arrived, n.Rank)
	}
	d.meets[n.Text] = m
	d.meet(n.Text)
}

// error checks an error that a rank has got from weft because another rank is dead.
func (d *director) error(n note) {
	if d.ended {
		return
	}
	if len(n.Ranks) > 0 {
		if dead := n.Ranks[0]; !d.ranks[dead].struck && !d.ranks[n.Rank].struck && !d.stage.excuses(n.Rank, dead) {
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
func (d *director) lost(rank int) {
	p := d.ranks[rank]
	p.out = true
	if !p.struck && !p.bye && !d.stuck {
		d.fail("rank %d has ended by itself in round %d", rank, d.round)
	}
	p.struck = true
	d.excused()
	d.goOn()
}

package engine

import "weft/internal/monotime"

// timers holds the peers that are watched by when they next have something to do:
// a heap, so that a node with many peers does not look at all of them. A peer's
// place may be too early, never too late: most timers are put off before they
// run out.
type timers []*peer

// next returns when to look again.
func (t timers) next() monotime.Time {
	if len(t) == 0 {
		return monotime.Never
	}
	return t[0].due
}

func (t *timers) add(p *peer) {
	p.due = p.deadline()
	p.place = len(*t)
	*t = append(*t, p)
	t.up(p.place)
}

func (t *timers) remove(p *peer) {
	last := len(*t) - 1
	i := p.place
	t.swap(i, last)
	(*t)[last] = nil
	*t = (*t)[:last]
	if i < last {
		t.down(i)
		t.up(i)
	}
}

// sooner moves a peer forward if its link has become due earlier.
func (t *timers) sooner(p *peer) {
	if at := p.deadline(); at < p.due {
		p.due = at
		t.up(p.place)
	}
}

// later moves the first peer back.
func (t *timers) later(at monotime.Time) {
	(*t)[0].due = at
	t.down(0)
}

func (t timers) swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].place = i
	t[j].place = j
}

func (t timers) up(i int) {
	for i > 0 && t[i].due < t[(i-1)/2].due {
		t.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (t timers) down(i int) {
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(t); c++ {
			if t[c].due < t[least].due {
				least = c
			}
		}
		if least == i {
			return
		}
		t.swap(i, least)
		i = least
	}
}

package link

import (
	"time"

	"weft/internal/monotime"
)

// A Pulse watches whether a peer lives. A peer that has been silent for the liveness time,
// although it was asked for a sign of life, is dead. It is asked after a quarter of that time,
// and then after each sixteenth: so twelve questions in a row, or their answers, must be lost
// before a peer that lives counts as dead. A sixteenth counts as one however long it really
// took: a process that was stopped, or got no processor, could not hear its peers, and must not
// take them for dead. (PROTOCOL §2.4)
type Pulse struct {
	liveness time.Duration
	at       monotime.Time // when the peer is asked next; Never: it is not watched
	silent   int           // sixteenths of the liveness time in which nothing came
}

const (
	sixteenths = 16             // of the liveness time
	patience   = sixteenths / 4 // of them without a question
)

// NewPulse returns a pulse that is not watched yet. A negative Liveness means that it
// never will be.
func NewPulse(cfg *Config) Pulse {
	return Pulse{liveness: cfg.WithDefaults().Liveness, at: monotime.Never}
}

// Watch begins or ends the watch.
func (p *Pulse) Watch(now monotime.Time, on bool) {
	p.silent = 0
	p.at = monotime.Never
	if on && p.liveness > 0 {
		p.at = now.Add(patience * p.sixteenth())
	}
}

// sixteenth is never 0, or time would stand still.
func (p *Pulse) sixteenth() time.Duration { return max(p.liveness/sixteenths, 1) }

// Heard says that something has come from the peer.
func (p *Pulse) Heard(now monotime.Time) {
	if p.at != monotime.Never {
		p.Watch(now, true)
	}
}

// Advance does what is due, and reports whether the peer is to be asked for a sign of
// life.
func (p *Pulse) Advance(now monotime.Time) (ask bool) {
	if now.Before(p.at) {
		return false
	}
	if p.silent == 0 {
		p.silent = patience
	} else {
		p.silent++
	}
	p.at = now.Add(p.sixteenth())
	return true
}

// Silent reports whether the peer is dead.
func (p *Pulse) Silent() bool { return p.silent >= sixteenths }

// Deadline returns when Advance has something to do.
func (p *Pulse) Deadline() monotime.Time { return p.at }

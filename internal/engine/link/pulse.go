package link

import (
	"time"

	"weft/internal/monotime"
)

// A Pulse watches whether a peer lives. A peer that has been silent for the liveness time,
// although it was asked for a sign of life, is dead. The time is counted in quarters, and a
// quarter counts as one however long it really was: a process that was stopped itself, or
// got no processor, could not hear its peers, and must not take them for dead.
// (PROTOCOL §2.4)
type Pulse struct {
	liveness time.Duration
	at       monotime.Time // when the quarter ends; Never: the peer is not watched
	silent   int           // quarters in which nothing came
}

const quarters = 4

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
		p.at = now.Add(p.quarter())
	}
}

// quarter is never 0, or time would stand still.
func (p *Pulse) quarter() time.Duration { return max(p.liveness/quarters, 1) }

// Heard says that something has come from the peer.
func (p *Pulse) Heard(now monotime.Time) {
	if p.at != monotime.Never {
		p.silent = 0
		p.at = now.Add(p.quarter())
	}
}

// Advance does what is due, and reports whether the peer is to be asked for a sign of
// life.
func (p *Pulse) Advance(now monotime.Time) (ask bool) {
	if now.Before(p.at) {
		return false
	}
	p.silent++
	p.at = now.Add(p.quarter())
	return !neverAsks()
}

// Silent reports whether the peer is dead.
func (p *Pulse) Silent() bool { return p.silent >= quarters }

// Deadline returns when Advance has something to do.
func (p *Pulse) Deadline() monotime.Time { return p.at }

package driver

import (
	"errors"
	"testing"

	"weft/internal/engine"
	"weft/internal/transport"
)

// deaf is a transport that only notes which ranks it is to forget.
type deaf struct {
	transport.Transport
	forgotten []int
}

func (d *deaf) Forget(peer int) { d.forgotten = append(d.forgotten, peer) }

// A rank that was stopped when it was dialled counts as dead. When it goes on and dials, it
// hears that: else it would wait for answers that nobody gives.
func TestOutcastDials(t *testing.T) {
	n := New(Config{Engine: engine.Config{Rank: 0, Size: 2, Rand: func() uint64 { return 5 }, Incarnation: 1}})
	d := &deaf{}
	n.Down(1, errors.New("does not answer"), false)
	n.Events(func() transport.Transport { return d }).Up(1)
	if len(d.forgotten) != 1 || d.forgotten[0] != 1 {
		t.Errorf("told: %v, want rank 1", d.forgotten)
	}
}

package driver

import (
	"errors"
	"sync"
	"testing"

	"weft/internal/engine"
)

// A rank to which there is no route is gone: each goroutine that waits for it gets that as an error, however soon it
// looks when it has been woken.
func TestReachWithoutRoute(t *testing.T) {
	const ranks = 20000
	n := New(Config{
		Engine: engine.Config{Rank: 0, Size: ranks, Rand: func() uint64 { return 5 }, Incarnation: 1},
		Route:  func(int) (Route, error) { return Route{}, errors.New("there is no route") },
	})
	var waiting sync.WaitGroup
	for first := range 4 {
		waiting.Go(func() {
			for rank := 1 + first; rank < ranks; rank += 4 {
				if p, err := n.Reach(t.Context(), rank); err == nil {
					t.Errorf("rank %d is reached: %+v", p.Rank, p.Transport)
				}
			}
		})
	}
	waiting.Wait()
}

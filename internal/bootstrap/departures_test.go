package bootstrap

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Every rank learns of each end that it awaits, once at least and only after it has happened; the last rank learns of
// all ends; and nobody is told what the rank itself tells it.
func TestDepartures(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		n := 1 + rnd.IntN(8)
		d := NewDepartures(n)
		ended := make([]bool, n)
		left := map[int][]int{}
		awaits := map[[2]int]bool{}
		knows := map[[2]int]bool{}
		hear := func(news []Notice) {
			for _, m := range news {
				for _, of := range m.Of {
					if told, ok := left[of]; !ok || slices.Contains(told, m.To) || m.To == of {
						t.Fatalf("seed %d: rank %d is told of rank %d", seed, m.To, of)
					}
					knows[[2]int{m.To, of}] = true
				}
			}
		}
		for range 40 {
			rank := rnd.IntN(n)
			switch other := rnd.IntN(n + 2); {
			case other == n+1:
				hear(d.Await(rank, n+7)) // there is no such rank
			case rnd.IntN(3) == 0:
				who := other
				if other == n {
					who = Every
				}
				for of := range n {
					if of != rank && (of == who || who == Every) && !ended[rank] {
						awaits[[2]int{rank, of}] = true
					}
				}
				hear(d.Await(rank, who))
			case ended[rank]:
			case rnd.IntN(3) == 0:
				ended[rank] = true
				hear(d.Ended(rank))
			default:
				var told []int
				for of := range n {
					if of != rank && rnd.IntN(2) == 0 {
						told = append(told, of)
					}
				}
				ended[rank] = true
				left[rank] = told
				hear(d.Returned(rank, told))
			}
			alone := -1
			if i := slices.Index(ended, false); i >= 0 && !slices.Contains(ended[i+1:], false) {
				alone = i
			}
			for to := range n {
				for of, told := range left {
					if needs := awaits[[2]int{to, of}] || to == alone; needs && !ended[to] && to != of &&
						!slices.Contains(told, to) && !knows[[2]int{to, of}] {
						t.Fatalf("seed %d: rank %d has not been told of rank %d", seed, to, of)
					}
				}
			}
			if d.Over() != !slices.Contains(ended, false) {
				t.Fatalf("seed %d: over: %v, ended %v", seed, d.Over(), ended)
			}
		}
	}
}

// Where no rank awaits another, the notices of a whole job are those to the last rank.
func TestDeparturesGrowWithTheJob(t *testing.T) {
	for _, n := range []int{16, 256, 4096} {
		d := NewDepartures(n)
		notices := 0
		for rank := range n {
			for _, m := range d.Returned(rank, []int{(rank + 1) % n}) {
				notices += len(m.Of)
			}
		}
		if notices > n {
			t.Errorf("%d ranks: %d notices", n, notices)
		}
	}
}

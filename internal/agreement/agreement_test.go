package agreement

import (
	"os"
	"strconv"
	"testing"
)

// seeds is how many seeds are played; WEFT_AGREEMENT_SEEDS says otherwise.
func seeds(t *testing.T) uint64 {
	if s := os.Getenv("WEFT_AGREEMENT_SEEDS"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if raceEnabled {
		return 100 // there is nothing to race
	}
	return 3_000
}

// TestDeaths: members end at any moment, any number of them. All members that have decided were told the same, also
// members that have ended since; and all members that live decide.
func TestDeaths(t *testing.T) {
	for seed := range seeds(t) {
		if err := play(seed, false); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// TestFalseDeaths: members also take others for dead that live. Members that have not taken each other for dead were
// told the same, and a member that has not decided is excluded, and knows.
func TestFalseDeaths(t *testing.T) {
	for seed := range seeds(t) {
		if err := play(seed, true); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// TestNoFault counts messages: twice ⌈log₂ n⌉ of each member, and no more.
func TestNoFault(t *testing.T) {
	for n, rounds := range map[int]int{1: 0, 2: 1, 3: 2, 4: 2, 5: 3, 64: 6, 100: 7} {
		c := newCluster(1, n, 1)
		sent := 0
		for i := range n {
			c.step(i, 1000, func(a *Node) { a.Propose(^uint64(1<<i), 5) })
		}
		for busy := true; busy; {
			busy = false
			for i := range n {
				for j := range n {
					for len(c.lanes[i][j]) > 0 {
						busy = true
						sent++
						c.deliver(i, j, 1000)
					}
				}
			}
		}
		if sent != 2*rounds*n {
			t.Errorf("%d members have sent %d messages, not %d", n, sent, 2*rounds*n)
		}
		for i, a := range c.nodes {
			if number, v := a.Decided(); number != 1 || v.Dead.Len() != 0 || v.Min != 5 || v.Max != 5 || n < 64 &&
				v.And != ^uint64(1<<n-1) {
				t.Errorf("%d of %d: %d, %+v", i, n, number, v)
			}
		}
	}
}

// FuzzParse: what is parsed is written again byte for byte, and a node takes it from any member without harm.
func FuzzParse(f *testing.F) {
	m := Message{Number: 1, Round: 1, Dead: Set{4}, best: estimate{Value{And: 5, Dead: Set{2}}, 1}}
	f.Add(m.Append(nil, 3), uint8(3))
	m.best = estimate{size: -1}
	m.Round = -1
	m.Number = 0
	f.Add(m.Append(nil, 70), uint8(70))
	f.Fuzz(func(t *testing.T, b []byte, size uint8) {
		n := max(int(size), 1)
		m, err := Parse(b, n)
		if err != nil {
			return
		}
		if again := m.Append(nil, n); string(again) != string(b) {
			t.Fatalf("%x is written as %x", b, again)
		}
		a := New(n, 0)
		a.Propose(1, 1)
		for from := range n {
			a.Receive(from, m)
			a.TakeOutgoing()
		}
	})
}

package coord

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestCounters runs the scenarios of RBCQ-1 in testdata: which members may go on after
// each code, and what Head and Counter are then.
func TestCounters(t *testing.T) {
	var c *Counters
	datadriven.RunTest(t, "testdata/rbcq1", func(t *testing.T, d *datadriven.TestData) string {
		var n, pe int
		var dist string
		var out strings.Builder
		switch d.Cmd {
		case "start":
			d.ScanArgs(t, "n", &n)
			c = NewCounters(n)
		case "sync":
			d.ScanArgs(t, "pe", &pe)
			d.ScanArgs(t, "d", &dist)
			far := uint64(Never)
			if dist != "never" {
				fmt.Sscan(dist, &far)
			}
			c.Sync(pe, far, func(i int, barrier uint64) { fmt.Fprintf(&out, "PE%d goes: B%d\n", i, barrier) })
		}
		if out.Len() == 0 && d.Cmd == "sync" {
			fmt.Fprintf(&out, "PE%d waits\n", pe)
		}
		out.WriteString("head ")
		for _, h := range c.Head {
			out.WriteString(map[bool]string{true: "1", false: "0"}[h])
		}
		out.WriteString(" cnt")
		for _, k := range c.Count {
			if k == Never {
				out.WriteString(" ∞")
			} else {
				fmt.Fprintf(&out, " %d", k)
			}
		}
		return out.String() + "\n"
	})
}

// queueMachine is RBCQ itself: a queue of bit vectors of the members that take part.
type queueMachine struct {
	queue   [][]bool
	at      int
	head    []bool
	pending []bool
}

func (m *queueMachine) sync(i int, pass func(i int, barrier uint64)) {
	m.pending[i] = true
	for {
		for i := range m.head {
			if m.pending[i] && m.head[i] {
				m.pending[i] = false
				m.head[i] = false
				pass(i, uint64(m.at))
			}
		}
		if slices.Contains(m.head, true) || m.at+1 == len(m.queue) {
			return
		}
		m.at++
		m.head = slices.Clone(m.queue[m.at])
	}
}

// TestSameAsRBCQ: RBCQ-1 lets the same members go at the same codes as RBCQ does,
// on 3,000 patterns of which members take part in which barriers.
func TestSameAsRBCQ(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := 2 + r.IntN(5)
		barriers := 3 + r.IntN(9)
		q := &queueMachine{pending: make([]bool, n)}
		for b := range barriers {
			members := make([]bool, n)
			for i := range members {
				members[i] = b == 0 || r.IntN(2) == 0
			}
			q.queue = append(q.queue, members)
		}
		q.head = slices.Clone(q.queue[0])
		c := NewCounters(n)
		at := make([]int, n) // the barrier of each member's next code, or -1
		var went, goes []string
		total := 0
		for {
			var can []int
			for i := range n {
				if at[i] >= 0 && !q.pending[i] {
					can = append(can, i)
				}
			}
			if len(can) == 0 {
				break
			}
			i := can[r.IntN(len(can))]
			d := uint64(Never)
			next := -1
			for b := at[i] + 1; b < barriers; b++ {
				if q.queue[b][i] {
					d = uint64(b - at[i])
					next = b
					break
				}
			}
			at[i] = next
			total++
			q.sync(i, func(i int, b uint64) { went = append(went, fmt.Sprint(i, b)) })
			c.Sync(i, d, func(i int, b uint64) { goes = append(goes, fmt.Sprint(i, b)) })
			if !slices.Equal(went, goes) {
				t.Fatalf("seed %d: RBCQ %v, RBCQ-1 %v", seed, went, goes)
			}
		}
		if len(goes) != total {
			t.Fatalf("seed %d: %d of %d codes were passed", seed, len(goes), total)
		}
	}
}

// Package waitgraph builds the wait-for graph of a job from the reports of its ranks, and finds
// deadlocks: ranks that wait for each other and can never go on.
//
// Tested in graph_test.go and edges_test.go, and with real jobs in package launch.
package waitgraph

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"weft/internal/counters"
)

// A Report is what one rank reports of itself.
type Report struct {
	Rank    int
	Host    string   `json:",omitempty"`
	PID     int      `json:",omitempty"`
	Ended   string   `json:",omitempty"` // why it is not there any more
	Silent  bool     `json:",omitempty"` // it did not answer: stopped, or it never gives others its processor
	Done    bool     `json:",omitempty"` // its program has returned, or it has left the job
	Waits   []Wait   `json:",omitempty"` // one for each goroutine
	More    int      `json:",omitempty"` // goroutines that wait, too
	Objects []Object `json:",omitempty"`
	Gone    []int    `json:",omitempty"` // ranks that it has taken for dead

	Counts *counters.Snapshot `json:",omitempty"` // with the peers that it exchanges most with

	Sent     []Sent   `json:",omitempty"` // if it counts that
	Paths    []string `json:",omitempty"` // on which it has been sent
	MoreSent int      `json:",omitempty"` // ranks to which it has sent, too
}

// Sent describes what a rank has sent to another one: that rank's number, messages, bytes, and the
// index of the path in Report.Paths.
type Sent [4]uint64

// A Wait is something that a goroutine of a rank waits for.
type Wait struct {
	// receive, send, flush, memory, lock, read-write lock, semaphore, condition, barrier, RBCQ-1 barrier, signal
	For     string
	Name    string  `json:",omitempty"`
	ID      uint64  `json:",omitempty"` // of what coordinates
	Phase   uint64  `json:",omitempty"` // of a barrier
	Rank    int     // the rank that it needs; AnyRank: any
	Call    string  `json:",omitempty"` // in which call, if that tells more
	Seconds float64 // since when
}

// Asleep returns what the goroutines of a rank sleep for by its page of counters, the longest wait first. It tells no
// more of a lock or a barrier than its name.
func Asleep(page *counters.Snapshot, now time.Time) (list []Wait) {
	for _, w := range page.Waiting {
		list = append(list, Wait{
			For: w.Operation, Name: w.Name, Phase: w.Phase, Rank: w.Peer, Seconds: max(now.Sub(w.Since).Seconds(), 0),
		})
	}
	slices.SortFunc(list, func(a, b Wait) int { return cmp.Compare(b.Seconds, a.Seconds) })
	return list
}

// AnyRank is the rank of a Wait that any rank can end.
const AnyRank = -1

// An Object is the state of one coordination object (a lock, a barrier and so on) at one rank.
type Object struct {
	What    string
	Name    string `json:",omitempty"`
	ID      uint64
	Holds   bool   `json:",omitempty"`
	Owns    bool   `json:",omitempty"` // the token of a lock, without using it
	Arrived uint64 `json:",omitempty"` // the last phase at which it has
	Done    uint64 `json:",omitempty"` // the last phase that is over
	Members []int  `json:",omitempty"` // of a barrier; none: all
	Home    bool   `json:",omitempty"`
	Holders []int  `json:",omitempty"` // as its home knows
	Queue   []int  `json:",omitempty"`
}

// A Graph is the reports of all ranks of a job, and the deadlocks in them.
type Graph struct {
	Ranks     []Report
	Deadlocks []string // chains of ranks that wait for each other and can never go on

	stuck []int // ranks that can never go on
}

// settled is how many seconds a wait must have lasted before its rank can be reported as stuck: the
// reports are not made at the same instant.
const settled = 0.2

// New returns the graph of the reports of all ranks, in order. It does not trust what ranks report:
// it removes impossible numbers, and replaces characters that a terminal might obey.
func New(ranks []Report) *Graph {
	for i := range ranks {
		ranks[i].Rank = i
		ranks[i].clean()
	}
	g := &Graph{Ranks: ranks}
	g.findDeadlocks()
	return g
}

// object returns how a rank stands to something, or nil.
func (r *Report) object(id uint64, home bool) *Object {
	for i := range r.Objects {
		if t := &r.Objects[i]; t.ID == id && t.Home == home {
			return t
		}
	}
	return nil
}

// A need is the set of ranks on which a Wait depends.
type need struct {
	ranks []int // all of them, if not any
	any   bool
}

// needs returns the ranks on which a wait depends.
func (g *Graph) needs(rank int, w Wait) need {
	var n need
	switch {
	case strings.HasSuffix(w.For, "lock"):
		for r := range g.Ranks {
			if t := g.Ranks[r].object(w.ID, false); t != nil && t.Holds && r != rank {
				n.ranks = append(n.ranks, r)
			}
		}
		n.any = len(n.ranks) == 0 // it is being handed on
	case w.For == "barrier":
		for _, r := range g.members(rank, w.ID) {
			if r == rank || r >= len(g.Ranks) {
				continue
			}
			t := g.Ranks[r].object(w.ID, false)
			if g.Ranks[r].Ended != "" || t == nil || t.Arrived < w.Phase { // it has left, or has not come
				n.ranks = append(n.ranks, r)
			}
		}
		n.any = len(n.ranks) == 0
	case w.Rank != AnyRank:
		n.ranks = []int{w.Rank}
	default:
		n.any = true
	}
	return n
}

// members returns the members of a barrier: as the waiting rank knows them, or else its home, or else all ranks.
func (g *Graph) members(rank int, id uint64) []int {
	if t := g.Ranks[rank].object(id, false); t != nil && len(t.Members) > 0 {
		return t.Members
	}
	for r := range g.Ranks { // of a dynamic barrier the home knows
		if t := g.Ranks[r].object(id, true); t != nil && t.What == "barrier" {
			return t.Members
		}
	}
	all := make([]int, len(g.Ranks))
	for i := range all {
		all[i] = i
	}
	return all
}

// findDeadlocks finds the ranks of which none can go on before another of them does. A rank, which
// may have several goroutines, can go on if one of its waits can end.
func (g *Graph) findDeadlocks() {
	can := make([]bool, len(g.Ranks))
	for i, r := range g.Ranks {
		can[i] = r.Ended == "" && (r.Silent || len(r.Waits) == 0 || r.young())
	}
	for changed := true; changed; {
		changed = false
		for i := range g.Ranks {
			if !can[i] && g.Ranks[i].Ended == "" && slices.ContainsFunc(g.Ranks[i].Waits,
				func(w Wait) bool { return g.canEnd(i, w, can) }) {
				can[i] = true
				changed = true
			}
		}
	}
	for i := range g.Ranks {
		if !can[i] && g.Ranks[i].Ended == "" {
			g.stuck = append(g.stuck, i)
		}
	}
	told := make([]bool, len(g.Ranks))
	for i := range g.Ranks {
		if can[i] || told[i] || g.Ranks[i].Ended != "" {
			continue
		}
		g.Deadlocks = append(g.Deadlocks, g.chain(i, told))
	}
}

func (r *Report) young() bool {
	return slices.ContainsFunc(r.Waits, func(w Wait) bool { return w.Seconds < settled })
}

// canEnd reports whether a wait of a rank can end, if can are the ranks that still may do something: of a wait for
// any rank, one of the others must be among them; of any other wait, all that it needs.
func (g *Graph) canEnd(rank int, w Wait, can []bool) bool {
	n := g.needs(rank, w)
	if n.any {
		for r, c := range can {
			if c && r != rank {
				return true
			}
		}
		return false
	}
	return !slices.ContainsFunc(n.ranks, func(r int) bool { return r >= len(can) || !can[r] })
}

// chain describes which rank waits for which, from one rank on, until a rank comes twice.
func (g *Graph) chain(rank int, told []bool) string {
	var s strings.Builder
	fmt.Fprintf(&s, "rank %d ", rank)
	here := map[int]bool{}
	for !told[rank] {
		told[rank] = true
		here[rank] = true
		w := g.Ranks[rank].Waits[0]
		fmt.Fprintf(&s, "waits for %s", w)
		n := g.needs(rank, w)
		if n.any {
			s.WriteString(", and no rank is left that could do that")
			return s.String()
		}
		next := n.ranks[0]
		for _, r := range n.ranks { // prefer a rank that is stuck itself
			if r < len(g.Ranks) && g.Ranks[r].Ended == "" && len(g.Ranks[r].Waits) > 0 {
				next = r
				break
			}
		}
		switch {
		case strings.HasSuffix(w.For, "lock"):
			fmt.Fprintf(&s, " held by %d", next)
		case w.For == "barrier":
			fmt.Fprintf(&s, ", for %d", next)
		}
		if next >= len(g.Ranks) || g.Ranks[next].Ended != "" {
			fmt.Fprintf(&s, ", which has ended")
			return s.String()
		}
		s.WriteString(", which ")
		rank = next
	}
	if here[rank] {
		fmt.Fprintf(&s, "is rank %d again", rank)
	} else {
		fmt.Fprintf(&s, "is stuck, as told")
	}
	return s.String()
}

// String says what is waited for.
func (w Wait) String() string {
	switch {
	case w.For == "signal":
		return w.Name
	case w.For == "barrier":
		return fmt.Sprintf("barrier %q, phase %d", w.Name, w.Phase)
	case w.Name != "" && w.Rank != AnyRank:
		return fmt.Sprintf("%s %q of %d", w.For, w.Name, w.Rank)
	case w.Name != "":
		return fmt.Sprintf("%s %q", w.For, w.Name)
	case w.For == "receive" && w.Rank == AnyRank:
		return "a message from anyone"
	case w.For == "receive":
		return fmt.Sprintf("a message from %d", w.Rank)
	case w.For == "send" || w.For == "flush":
		return fmt.Sprintf("room at %d, or its acknowledgement", w.Rank)
	default:
		return fmt.Sprintf("the %s of %d", w.For, w.Rank)
	}
}

// WriteText writes the graph for people.
func (g *Graph) WriteText(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "rank\thost\tpid\twaits for\tsince\tholds")
	for _, r := range g.Ranks {
		holds := r.holds()
		switch {
		case r.Ended != "":
			fmt.Fprintf(w, "%d\t%s\t%d\tended: %s\t\t\n", r.Rank, r.Host, r.PID, r.Ended)
		case r.Silent:
			fmt.Fprintf(w, "%d\t%s\t%d\tdoes not answer: is it stopped?\t\t\n", r.Rank, r.Host, r.PID)
		case len(r.Waits) == 0:
			doing := "it computes, or waits outside weft"
			if r.Done {
				doing = "its program has returned, or it has left the job"
			}
			fmt.Fprintf(w, "%d\t%s\t%d\tnothing: %s\t\t%s\n", r.Rank, r.Host, r.PID, doing, holds)
		}
		for i, wait := range r.Waits {
			since := time.Duration(wait.Seconds * float64(time.Second)).Round(time.Millisecond).String()
			if i > 0 {
				fmt.Fprintf(w, "\t\t\t%s\t%s\t\n", g.explain(r.Rank, wait), since)
				continue
			}
			fmt.Fprintf(w, "%d\t%s\t%d\t%s\t%s\t%s\n", r.Rank, r.Host, r.PID, g.explain(r.Rank, wait), since, holds)
		}
		if r.More > 0 {
			fmt.Fprintf(w, "\t\t\tand %d more goroutines wait\t\t\n", r.More)
		}
	}
	for _, r := range g.Ranks {
		for _, t := range r.Objects {
			if t.Home && len(t.Queue) > 0 {
				fmt.Fprintf(w, "%s %q: ranks %v have asked for it, as its home, rank %d, knows\n", t.What, g.name(t), t.Queue,
					r.Rank)
			}
		}
	}
	for _, d := range g.Deadlocks {
		fmt.Fprintf(w, "DEADLOCK: %s\n", d)
	}
	return w.Flush()
}

// explain says what a wait is for and which ranks it needs.
func (g *Graph) explain(rank int, w Wait) string {
	text := w.String()
	if w.Call != "" {
		text += " (" + w.Call + ")"
	}
	n := g.needs(rank, w)
	if len(n.ranks) == 0 || w.Rank != AnyRank {
		return text
	}
	return fmt.Sprintf("%s: needs %s", text, list(n.ranks))
}

// Needs says what the first wait of a rank is for and which ranks that needs, or "" if it has none.
func (g *Graph) Needs(rank int) string {
	if w := g.Ranks[rank].Waits; len(w) > 0 {
		return g.explain(rank, w[0])
	}
	return ""
}

// list names a few of many ranks.
func list(ranks []int) string {
	const few = 6
	var s []string
	for i, r := range ranks {
		if i == few {
			s = append(s, fmt.Sprintf("… (%d in all)", len(ranks)))
			break
		}
		s = append(s, fmt.Sprint(r))
	}
	return strings.Join(s, ", ")
}

// holds lists what a rank holds, and in parentheses the locks whose token is at the rank, though it does not hold
// them.
func (r *Report) holds() string {
	var s []string
	for _, t := range r.Objects {
		switch {
		case t.Holds:
			s = append(s, fmt.Sprintf("%s %q", t.What, t.Name))
		case t.Owns:
			s = append(s, fmt.Sprintf("(%s %q, unused)", t.What, t.Name))
		}
	}
	return strings.Join(s, ", ")
}

// name returns the name of what a home knows by its number only.
func (g *Graph) name(t Object) string {
	for _, r := range g.Ranks {
		if u := r.object(t.ID, false); u != nil {
			return u.Name
		}
	}
	return fmt.Sprintf("%x", t.ID)
}

package matching

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"weft/internal/match"
)

// A Result is what searching one queue in one pattern has cost: a line of -json.
type Result struct {
	Test      string  `json:"test"` // match
	Pattern   string  `json:"pattern"`
	Ranks     int     `json:"ranks"`
	Queue     string  `json:"queue"`    // unexpected or posted
	Searches  uint64  `json:"searches"` // of all ranks, in one round
	MeanLen   float64 `json:"mean_length"`
	MaxLen    int     `json:"max_length"`
	One       Cost    `json:"one_queue"`
	PerSender Cost    `json:"per_sender"`
	Ratio     float64 `json:"ratio"` // of the entries compared: one queue to per sender
}

// A Cost is that of a search, and of a message with all that it needs: one search
// of each queue.
type Cost struct {
	Mean float64 `json:"mean_looked"` // entries compared
	Max  int     `json:"max_looked"`
	NS   float64 `json:"ns_per_match"` // median of the rounds
}

// A pattern makes traces of all ranks, or of one, from a seed.
type pattern struct {
	name   string
	ranks  int
	queue  string // the one that counts; empty: both
	traces func(seed uint64) ([]trace, error)
}

// floodRanks is how many ranks a flood has.
const floodRanks = 64

// flood is what one rank is sent by 63 others: 1,000 messages, in any order but
// that of each sender. They are asked for in an order of their own, when all have
// come; or all receives are posted before.
func flood(name, queue string, share, order func(rnd *rand.Rand, n int) []int, any bool) pattern {
	return pattern{name, floodRanks, queue, func(seed uint64) ([]trace, error) {
		const n = 1000
		rnd := rand.New(rand.NewPCG(seed, n))
		source := share(rnd, n)
		tag := make([]uint64, n)
		var sent [floodRanks]uint64
		for i, s := range source {
			tag[i] = sent[s]
			sent[s]++
		}
		var messages, receives trace
		for i, s := range source {
			messages.arrive(s, tag[i])
		}
		for _, i := range order(rnd, n) {
			from := source[i]
			if any {
				from = match.Any
			}
			receives.receive(from, tag[i], match.Exact)
		}
		if queue == "posted" {
			return []trace{append(receives, messages...)}, nil
		}
		return []trace{append(messages, receives...)}, nil
	}}
}

// evenly gives each of 63 senders the same share.
func evenly(rnd *rand.Rand, n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = 1 + i%(floodRanks-1)
	}
	rnd.Shuffle(n, func(a, b int) { s[a], s[b] = s[b], s[a] })
	return s
}

// half gives one of 63 senders half of it.
func half(rnd *rand.Rand, n int) []int {
	s := evenly(rnd, n)
	for i := range s {
		if rnd.IntN(2) == 0 {
			s[i] = 1
		}
	}
	return s
}

func shuffled(rnd *rand.Rand, n int) []int { return rnd.Perm(n) }

// asSent asks for messages in the order in which they were sent: the first entry of a queue always fits.
func asSent(_ *rand.Rand, n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// newestFirst asks for messages in the reverse order: with one queue each search goes to its end.
func newestFirst(rnd *rand.Rand, n int) []int {
	order := asSent(rnd, n)
	slices.Reverse(order)
	return order
}

// floods returns the patterns that ask for one queue's worst and best.
func floods() []pattern {
	return []pattern{
		flood("1000 unexpected, random", "unexpected", evenly, shuffled, false),
		flood("1000 unexpected, newest first", "unexpected", evenly, newestFirst, false),
		flood("1000 unexpected, oldest first", "unexpected", evenly, asSent, false),
		flood("1000 unexpected, half from one", "unexpected", half, shuffled, false),
		flood("1000 unexpected, from any", "unexpected", evenly, shuffled, true),
		flood("1000 posted, random", "posted", evenly, shuffled, false),
	}
}

// Measure plays every pattern, and what recorded programs have done, on one queue and on those of package match, in
// turn, a pattern with another seed in each round.
func Measure(
	ctx context.Context, recorded []Recorded, seed uint64, rounds int, progress func(round int, what string),
) ([]Result, error) {
	all := floods()
	for _, r := range recorded {
		p, err := r.pattern()
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return measure(ctx, all, seed, rounds, progress)
}

// measure plays every pattern to both kinds of queues, with a seed of its own in each round.
func measure(
	ctx context.Context, patterns []pattern, seed uint64, rounds int, progress func(round int, what string),
) ([]Result, error) {
	var results []Result
	for _, p := range patterns {
		var t tally
		for round := range rounds {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			progress(round, p.name)
			traces, err := p.traces(seed + uint64(round))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
			t.round(traces, p.ranks)
		}
		for _, queue := range []string{"unexpected", "posted"} {
			if p.queue == "" || p.queue == queue {
				results = append(results, t.result(p, queue, rounds))
			}
		}
	}
	return results, nil
}

// A tally is what the rounds of a pattern have cost, on one queue and per sender.
type tally [2]struct {
	match.Stats
	ns []float64
}

// round plays the traces of all ranks to both kinds of queues: once to count the entries that searches compare, and
// then often enough, with the garbage collected, to time a message.
func (t *tally) round(traces []trace, ranks int) {
	messages := 0
	var both [2][]queues
	for _, tr := range traces {
		messages += tr.messages()
		for i, q := range []queues{newOne(), perSender{match.NewQueues[int, int](ranks)}} {
			tr.play(q, nil)
			add(&t[i].Unexpected, q.Stats().Unexpected)
			add(&t[i].Posted, q.Stats().Posted)
			both[i] = append(both[i], q)
		}
	}
	// The queues have what entries they need, and are empty, but for receives that a program has given up.
	runtime.GC()
	times := 1 + 20000/max(messages, 1)
	for i, q := range both {
		start := time.Now()
		for range times {
			for rank, tr := range traces {
				tr.play(q[rank], nil)
			}
		}
		t[i].ns = append(t[i].ns, float64(time.Since(start).Nanoseconds())/float64(times*max(messages, 1)))
	}
}

// add adds what happened at one rank.
func add(sum *match.QueueStats, s match.QueueStats) {
	sum.MaxLen = max(sum.MaxLen, s.MaxLen)
	sum.MaxLooked = max(sum.MaxLooked, s.MaxLooked)
	sum.SumLen += s.SumLen
	sum.Searches += s.Searches
	sum.Looked += s.Looked
}

// result returns the counts of all rounds, and the median of their times.
func (t *tally) result(p pattern, queue string, rounds int) Result {
	r := Result{Test: "match", Pattern: p.name, Ranks: p.ranks, Queue: queue}
	for i, c := range []*Cost{&r.One, &r.PerSender} {
		s := t[i].Unexpected
		if queue == "posted" {
			s = t[i].Posted
		}
		slices.Sort(t[i].ns)
		searches := float64(max(s.Searches, 1))
		*c = Cost{float64(s.Looked) / searches, s.MaxLooked, t[i].ns[len(t[i].ns)/2]}
		r.Searches = s.Searches / uint64(rounds)
		r.MeanLen = float64(s.SumLen) / searches
		r.MaxLen = s.MaxLen
	}
	if r.PerSender.Mean > 0 {
		r.Ratio = r.One.Mean / r.PerSender.Mean
	}
	return r
}

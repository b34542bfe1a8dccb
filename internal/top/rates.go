package top

import (
	"cmp"
	"slices"

	"weft/internal/counters"
)

// Since adds the rates since an earlier sample, and sorts the pairs by their rates. If the earlier sample is nil, it
// sorts them by all that they have sent.
func (s *Sample) Since(before *Sample) {
	for _, j := range s.Jobs {
		var old *Job
		if before != nil {
			old = before.find(j)
		}
		j.since(old, s, before)
	}
	for _, k := range s.Servers {
		if before != nil {
			k.since(before)
		}
	}
}

// find returns the same job in this sample, or nil.
func (s *Sample) find(j *Job) *Job {
	for _, o := range s.Jobs {
		if o.Name == j.Name && o.Launcher == j.Launcher {
			return o
		}
	}
	return nil
}

func (j *Job) since(old *Job, now, before *Sample) {
	sent := map[[2]int]Pair{}
	if old != nil {
		seconds := now.Time.Sub(before.Time).Seconds()
		for _, r := range j.Ranks {
			if o := old.rank(r.Rank); o != nil && o.PID == r.PID {
				r.since(o, seconds)
			}
		}
		for _, p := range old.Pairs {
			sent[[2]int{p.From, p.To}] = p
		}
		for i := range j.Pairs {
			p := &j.Pairs[i]
			o := sent[[2]int{p.From, p.To}]
			p.Rate = &Rate{Messages: per(p.Messages, o.Messages, seconds), Bytes: per(p.Bytes, o.Bytes, seconds),
				Resent: per(p.Resent, o.Resent, seconds)}
		}
	}
	slices.SortStableFunc(j.Pairs, func(a, b Pair) int {
		if a.Rate != nil && b.Rate != nil && a.Rate.Bytes != b.Rate.Bytes {
			return cmp.Compare(b.Rate.Bytes, a.Rate.Bytes)
		}
		return cmp.Compare(b.Bytes, a.Bytes)
	})
}

func (r *Rank) since(o *Rank, seconds float64) {
	if r.used > o.used && seconds > 0 {
		r.CPU = (r.used - o.used).Seconds() / seconds
	}
	if r.State == Running || r.State == Sleeping { // the state is that of the first thread: others may differ
		if r.State = Sleeping; r.CPU >= busy {
			r.State = Running
		}
	}
	if r.Counts == nil || o.Counts == nil {
		return
	}
	r.Rates = &Rates{Sent: rate(&r.Counts.Sent, &o.Counts.Sent, seconds),
		Received: rate(&r.Counts.Received, &o.Counts.Received, seconds)}
	r.Rates.Sent.Bytes += per(r.Counts.SentDirect, o.Counts.SentDirect, seconds)
	r.Rates.Received.Bytes += per(r.Counts.GotDirect, o.Counts.GotDirect, seconds)
	polled, asleep := waited(r.Counts)
	polledBefore, asleepBefore := waited(o.Counts)
	r.Rates.Polling = per(polled, polledBefore, seconds) / 1e9
	r.Rates.Asleep = per(asleep, asleepBefore, seconds) / 1e9
}

// waited returns the nanoseconds for which goroutines have waited.
func waited(s *counters.Snapshot) (polled, asleep uint64) {
	for _, w := range s.Waits {
		polled += w.Polled
		asleep += w.Asleep
	}
	return polled, asleep
}

func rate(now, before *counters.Flow, seconds float64) Rate {
	return Rate{
		Messages: per(now.Messages, before.Messages, seconds), Packets: per(now.Packets, before.Packets, seconds),
		Bytes: per(now.Bytes, before.Bytes, seconds), Resent: per(now.Resent, before.Resent, seconds),
		Lost: per(now.Lost, before.Lost, seconds), Refused: per(now.Refused, before.Refused, seconds),
	}
}

// busy is the part of a processor above which a rank counts as running.
const busy = 0.05

// per returns by how much a counter has grown per second. A counter that has become smaller belongs to a page that was
// created again, or is damaged: then it returns 0.
func per(now, before uint64, seconds float64) float64 {
	if now < before || seconds <= 0 {
		return 0
	}
	return float64(now-before) / seconds
}

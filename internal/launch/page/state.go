package page

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"weft/internal/counters"
	"weft/internal/waitgraph"
	"weft/internal/web"
)

// mostEdges bounds the edges of the wait-for graph that the page draws.
const mostEdges = 2000

// state returns the job as the page shows it: what the ranks answer, and the pages of counters of those on this host.
func (p *page) state() web.State {
	status := p.answers.latest(p.job.Status)
	ranks := slices.Clone(status.Ranks)
	pages := counterPages(p.job.ID(), len(ranks))
	now := time.Now()
	for rank, page := range pages {
		if rank < len(ranks) {
			addPage(&ranks[rank], page, now)
		}
	}
	g := waitgraph.New(ranks)
	s := web.State{
		Name:  counters.Printable(filepath.Base(status.Program)),
		Title: strings.Join(append([]string{counters.Printable(status.Program)}, status.Args...), " "),
		Live:  true, Seconds: now.Sub(status.Started).Seconds(), Stuck: g.Deadlocks, Things: g.ObjectStates(),
		TimesOf: "round trips",
	}
	for i := range g.Ranks {
		k := &g.Ranks[i]
		rank := web.Rank{Host: k.Host, PID: k.PID, Ended: k.Ended, Stuck: g.Stuck(i), Doing: g.Doing(i)}
		if page, ok := pages[i]; ok && k.Silent {
			rank.Doing = counters.Printable(silence(page, now))
		}
		if k.Counts != nil {
			rank.Waited = k.Counts.Waits
			for _, w := range rank.Waited {
				rank.InWaits += w.Polled + w.Asleep
			}
		}
		s.Ranks = append(s.Ranks, rank)
		s.Pairs = append(s.Pairs, pairsOf(k, len(g.Ranks))...)
	}
	s.Waits = g.Edges()
	s.Waits = s.Waits[:min(len(s.Waits), mostEdges)]
	return s
}

// pairsOf returns what a rank has sent to others by its own report. Counts of packets come from its page of counters,
// or, if the page is on another host, from the report, which has them for the ranks that it exchanges most with.
func pairsOf(k *waitgraph.Report, ranks int) (pairs []web.Pair) {
	if k.Silent && len(k.Sent) == 0 && k.Counts != nil {
		return pagePairs(k, ranks)
	}
	peers := map[int]*counters.PeerCounts{}
	if k.Counts != nil {
		for i := range k.Counts.Peers {
			peers[k.Counts.Peers[i].Rank] = &k.Counts.Peers[i]
		}
	}
	for _, sent := range k.Sent {
		p := web.Pair{From: k.Rank, To: int(min(sent[0], uint64(ranks-1))), Messages: sent[1], Bytes: sent[2]}
		if sent[3] < uint64(len(k.Paths)) {
			p.Transport, p.Why, _ = strings.Cut(k.Paths[sent[3]], ": ")
		}
		if c := peers[p.To]; c != nil {
			addCounts(&p, c)
		}
		pairs = append(pairs, p)
	}
	return pairs
}

package launch

import (
	"strings"
	"time"

	"weft/internal/waitgraph"
	"weft/internal/web"
)

// countEnv makes each rank count what it sends to each other rank.
const countEnv = "WEFT_COUNT"

// openPage begins to serve the page of the job. It is called before the ranks start, so that an address in use is an
// error at once.
func (r *Running) openPage() (err error) {
	if r.job.HTTP == "" {
		return nil
	}
	if r.page, err = web.Listen(r.job.HTTP, r.state); err == nil {
		r.report("weft run: %s\n", r.page.URL())
	}
	return err
}

func (r *Running) closePage() {
	if r.page != nil {
		_ = r.page.Close()
	}
}

// mostEdges bounds the edges of the wait-for graph that the page draws.
const mostEdges = 2000

// state returns the job as the page shows it.
func (r *Running) state() web.State {
	status := r.Status()
	g := waitgraph.New(status.Ranks)
	s := web.State{
		Title: strings.Join(append([]string{waitgraph.Printable(status.Program)}, status.Args...), " "),
		Live:  true, Seconds: time.Since(r.started).Seconds(), Stuck: g.Deadlocks,
	}
	for i := range g.Ranks {
		k := &g.Ranks[i]
		s.Ranks = append(s.Ranks, web.Rank{Host: k.Host, PID: k.PID, Ended: k.Ended, Stuck: g.Stuck(i), Doing: g.Doing(i)})
		for _, sent := range k.Sent {
			s.Pairs = append(s.Pairs, pairOf(k, len(g.Ranks), sent))
		}
	}
	edges := g.Edges()
	for _, e := range edges[:min(len(edges), mostEdges)] {
		s.Waits = append(s.Waits, web.Wait(e))
	}
	for _, t := range g.ObjectStates() {
		s.Things = append(s.Things, web.Thing{
			What: t.What, Name: t.Name, Phase: t.Phase, Arrived: t.Arrived, Members: t.Members, Last: t.Missing,
			Holders: t.Holders, Queue: t.Queue,
		})
	}
	return s
}

// pairOf returns what a rank has sent to another by its own report, which counts packets only for the ranks that it
// exchanges most with.
func pairOf(k *waitgraph.Report, ranks int, sent waitgraph.Sent) web.Pair {
	p := web.Pair{From: k.Rank, To: int(min(sent[0], uint64(ranks-1))), Messages: sent[1], Bytes: sent[2]}
	if sent[3] < uint64(len(k.Paths)) {
		p.Transport, p.Why, _ = strings.Cut(k.Paths[sent[3]], ": ")
	}
	if k.Counts == nil {
		return p
	}
	for i := range k.Counts.Peers {
		if c := &k.Counts.Peers[i]; c.Rank == p.To {
			p.Packets = c.Sent.Packets
			p.Resent = c.Sent.Resent
			p.Latency = float64(c.RTT) / 2
		}
	}
	return p
}

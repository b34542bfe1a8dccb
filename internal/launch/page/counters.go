package page

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"weft/internal/counters"
	"weft/internal/counters/directory"
	"weft/internal/sys"
	"weft/internal/waitgraph"
	"weft/internal/web"
)

// counterPages returns the pages of counters of the ranks of a job on this host, by rank. Reading them needs no help
// from the ranks, so it also works for a rank that is stopped.
func counterPages(job uint64, size int) map[int]directory.Rank {
	pages := map[int]directory.Rank{}
	name := directory.Name(job)
	for _, dir := range directory.Jobs() {
		if filepath.Base(dir) != name {
			continue
		}
		ranks, _ := directory.Read(dir) // a page that cannot be read is missing
		for _, k := range ranks {
			if k.Size == size {
				pages[k.Rank] = k
			}
		}
	}
	return pages
}

// addPage adds to the report of a rank what its page of counters says. If the rank did not answer, the page also tells
// which ranks its goroutines wait for; which rank holds up a lock or a barrier is not in it.
func addPage(report *waitgraph.Report, page directory.Rank, now time.Time) {
	report.Counts = page.Snapshot
	if !report.Silent {
		return
	}
	for _, w := range waitgraph.Asleep(page.Snapshot, now) {
		if w.Rank >= 0 && w.For != counters.Barrier.String() && w.For != counters.Lock.String() {
			report.Waits = append(report.Waits, w)
		}
	}
}

// silence says in words what the page of counters of a rank that did not answer, and the kernel, know about it.
func silence(page directory.Rank, now time.Time) string {
	text := "does not answer"
	if letter, _, ok := sys.ProcessState(page.PID); page.Alive && ok && (letter == 'T' || letter == 't') {
		text = "stopped by a signal or a debugger"
	}
	var sleeps []string
	for _, w := range waitgraph.Asleep(page.Snapshot, now) {
		sleeps = append(sleeps, fmt.Sprintf("%s, for %.1f s", w, w.Seconds))
	}
	if len(sleeps) == 0 {
		return text + "; no goroutine of it sleeps in weft"
	}
	return text + "; goroutines of it wait for " + strings.Join(sleeps, "; ")
}

// pagePairs returns what a rank that has never answered has sent, by its page of counters.
func pagePairs(k *waitgraph.Report, ranks int) (pairs []web.Pair) {
	for i := range k.Counts.Peers {
		c := &k.Counts.Peers[i]
		p := web.Pair{
			From: k.Rank, To: c.Rank, Messages: c.Sent.Messages + c.Sent.Accesses, Bytes: c.Sent.Bytes + c.SentDirect,
			Transport: c.Transport,
		}
		if c.Rank < ranks && (p.Messages > 0 || p.Bytes > 0) {
			addCounts(&p, c)
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// addCounts adds to a pair what its sender counts of packets and round trips.
func addCounts(p *web.Pair, c *counters.PeerCounts) {
	p.Packets = c.Sent.Packets
	p.Resent = c.Sent.Resent
	p.Latency = float64(c.RTT) / 2
	p.Times = c.RoundTrips
}

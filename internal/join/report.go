package join

import (
	"encoding/json"
	"os"

	"weft/internal/counters"
	"weft/internal/driver"
	"weft/internal/engine"
	"weft/internal/waitgraph"
)

// Answer makes this process tell weft ps what it waits for. The function more adds to a report what the member does
// not know.
func (m *Member) Answer(more func(r *waitgraph.Report)) {
	m.Source.Answer(func() string {
		r := m.report()
		more(&r)
		return text(r)
	})
}

// text returns a report as JSON that fits into a line to the launcher.
func text(r waitgraph.Report) string {
	const most = 60 << 10 // bytes
	for {
		text, err := json.Marshal(r)
		switch {
		case err != nil:
			return ""
		case len(text) < most:
			return string(text)
		}
		if r.Counts != nil {
			r.Counts = nil
			continue
		}
		if len(r.Waits)+len(r.Objects) == 0 {
			r.Gone = nil
			r.MoreSent += len(r.Sent) - len(r.Sent)/2
			r.Sent = r.Sent[:len(r.Sent)/2]
		}
		r.More += len(r.Waits) - len(r.Waits)/2
		r.Waits = r.Waits[:len(r.Waits)/2]
		r.Objects = r.Objects[:len(r.Objects)/2]
	}
}

// report returns what this process waits for, has counted and has sent.
func (m *Member) report() waitgraph.Report {
	r := m.Node.Report()
	r.Host = m.Job.Host
	r.PID = os.Getpid()
	r.Counts = m.counts()
	m.reportSent(&r)
	return r
}

// counts returns the counters that other processes may read, or nil.
func (m *Member) counts() (s *counters.Snapshot) {
	const peers = 8
	if m.page == nil {
		return nil
	}
	m.Node.Engine(func(*engine.Engine) { s, _ = m.page.Snapshot() })
	if s != nil {
		s.Shorten(peers)
	}
	return s
}

// reportSent adds to a report what was sent to each rank, and over which transport.
func (m *Member) reportSent(r *waitgraph.Report) {
	if m.Trace == nil {
		return
	}
	peers := map[int]*driver.Peer{}
	for _, d := range m.Node.Peers() {
		peers[d.Rank] = d
	}
	paths := map[string]uint64{}
	m.Trace.Sent(func(to int, messages, bytes uint64) {
		path := ""
		if d := peers[to]; d != nil {
			name, route := m.Reaches(d)
			path = name + ": " + route.Why
		}
		if _, ok := paths[path]; !ok {
			paths[path] = uint64(len(r.Paths))
			r.Paths = append(r.Paths, path)
		}
		r.Sent = append(r.Sent, waitgraph.Sent{uint64(to), messages, bytes, paths[path]})
	})
}

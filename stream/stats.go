package stream

import (
	"cmp"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"weft/internal/control"
)

// Stats are counters of a listener, or of what this process has dialled at one address. Those of bytes, waits and
// sleeps are sums over all connections, closed ones included.
type Stats struct {
	Network string `json:"network"` // "unix", or "tcp" between hosts
	Address string `json:"address"` // as it was given to Listen or Dial
	Dialled bool   `json:"dialled"` // this process has dialled; otherwise it listens

	Open    int    `json:"open"`           // connections that have not been closed
	Made    uint64 `json:"made"`           // connections that Accept or Dial has returned
	Refused uint64 `json:"refused"`        // connections that Config.Allow has refused, here or at the listener
	Failed  uint64 `json:"failed"`         // other attempts that came to nothing, such as failed handshakes
	Last    string `json:"last,omitempty"` // why the last attempt was refused or has failed

	Read    uint64 `json:"read"` // this and the following as in ConnStats
	Written uint64 `json:"written"`
	Full    uint64 `json:"full"`
	Sleeps  uint64 `json:"sleeps"`

	Conns []ConnStats `json:"conns,omitempty"` // in a ProcessStats: open ones, those with the most bytes first
}

// ProcessStats is what a process says about its streams on one host and between hosts. Streams inside a job are counted
// with the job.
type ProcessStats struct {
	Program string  `json:"program"` // its name without a path
	Streams []Stats `json:"streams"`
}

// Snapshot returns the counters of all listeners of this process, and of the addresses that it has dialled, with up to
// most connections each. Any goroutine may call it. A program publishes it with
//
//	expvar.Publish("streams", expvar.Func(func() any { return stream.Snapshot(0) }))
//
// weft ps and weft top ask it of the processes that listen, and the Prometheus module exports it.
func Snapshot(most int) ProcessStats {
	s := ProcessStats{Program: filepath.Base(os.Args[0])}
	for _, l := range ledgers.all() {
		s.Streams = append(s.Streams, l.stats(most))
	}
	slices.SortStableFunc(s.Streams, func(a, b Stats) int {
		return cmp.Or(cmp.Compare(a.Network, b.Network), cmp.Compare(a.Address, b.Address))
	})
	return s
}

// A ledger has the tallies of a listener, or of what has been dialled at one address.
type ledger struct {
	mu    sync.Mutex
	sum   Stats  // without what the open connections count, but how many there are
	first *tally // of an open connection; a list costs less than a map, when connections are short
}

func newLedger(network, address string, dialled bool) *ledger {
	return &ledger{sum: Stats{Network: network, Address: address, Dialled: dialled}}
}

// enter counts a connection that has been made.
func (l *ledger) enter(t *tally) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sum.Made++
	l.sum.Open++
	t.open = true
	if t.next = l.first; t.next != nil {
		t.next.prev = t
	}
	l.first = t
}

// leave counts what a connection that has been closed has counted.
func (l *ledger) leave(t *tally) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !t.open {
		return
	}
	t.open = false
	l.sum.Open--
	if t.prev == nil {
		l.first = t.next
	} else {
		t.prev.next = t.next
	}
	if t.next != nil {
		t.next.prev = t.prev
	}
	t.next = nil
	t.prev = nil
	l.sum.add(t.counts())
}

func (s *Stats) add(c ConnStats) {
	s.Read += c.Read
	s.Written += c.Written
	s.Full += c.Full
	s.Sleeps += c.Sleeps
}

// note counts a connection that was not made: it was refused, if the reason matches ErrRefused.
func (l *ledger) note(why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if errors.Is(why, ErrRefused) {
		l.sum.Refused++
	} else {
		l.sum.Failed++
	}
	l.sum.Last = why.Error()
}

// stats returns the sums, and up to most connections.
func (l *ledger) stats(most int) Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.sum
	for t := l.first; t != nil; t = t.next {
		if most == 0 {
			s.add(t.counts())
			continue
		}
		c := t.stats()
		s.add(c)
		s.Conns = append(s.Conns, c)
	}
	slices.SortFunc(s.Conns, func(a, b ConnStats) int {
		return cmp.Or(cmp.Compare(b.Read+b.Written, a.Read+a.Written), a.Opened.Compare(b.Opened))
	})
	s.Conns = s.Conns[:min(len(s.Conns), most):min(len(s.Conns), most)]
	return s
}

// ledgers are those of this process.
var ledgers register

// A register has the ledgers of a process. While it listens somewhere, it says what they hold to weft ps.
type register struct {
	mu        sync.Mutex
	listening map[*ledger]struct{}
	dialled   map[[2]string]*ledger // by network and address; at most mostAddresses
	stop      func()                // ends the answers; nil while there are none
}

// Bounds of what is kept and told.
const (
	mostAddresses = 256  // that have been dialled; the rest counts as one, without an address
	mostTold      = 1000 // connections of a listener
)

// listen adds a listener's ledger.
func (r *register) listen(network, address string) *ledger {
	l := newLedger(network, address, false)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listening == nil {
		r.listening = map[*ledger]struct{}{}
	}
	r.listening[l] = struct{}{}
	if r.stop == nil {
		r.stop = control.Listen(control.Streams, 0, func() any { return Snapshot(mostTold) })
	}
	return l
}

// remove takes the ledger of a listener that has been closed out.
func (r *register) remove(l *ledger) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.listening, l)
	if len(r.listening) == 0 && r.stop != nil {
		r.stop()
		r.stop = nil
	}
}

// dial returns the ledger of an address.
func (r *register) dial(network, address string) *ledger {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := [2]string{network, address}
	if r.dialled[key] == nil && len(r.dialled) >= mostAddresses {
		key[1] = ""
	}
	if r.dialled == nil {
		r.dialled = map[[2]string]*ledger{}
	}
	if r.dialled[key] == nil {
		r.dialled[key] = newLedger(network, key[1], true)
	}
	return r.dialled[key]
}

func (r *register) all() []*ledger {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.Collect(maps.Keys(r.listening))
	return slices.AppendSeq(all, maps.Values(r.dialled))
}

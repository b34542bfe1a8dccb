package stream

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"weft/internal/ring"
)

// ConnStats are counters of one connection. They are exact when it has been closed; while it is in use, its peer, which
// shares the memory, could falsify those of a connection in memory.
type ConnStats struct {
	Peer   Peer      `json:"peer"`   // the process at the other end; zero between hosts
	Remote string    `json:"remote"` // its address
	Opened time.Time `json:"opened"` // when Accept or Dial has made the connection
	Memory bool      `json:"memory"` // what this side writes has moved into memory

	Read    uint64 `json:"read"`    // bytes that calls here have read
	Written uint64 `json:"written"` // bytes that calls here have written
	Queued  uint64 `json:"queued"`  // bytes in memory that this side has written and the peer has not read
	Waiting uint64 `json:"waiting"` // bytes in memory that the peer has written and this side has not read
	Full    uint64 `json:"full"`    // times that a call here has waited because the memory was full
	Sleeps  uint64 `json:"sleeps"`  // times that a call here has slept until the peer woke it, in memory
}

// A tally is what one connection counts. It outlives the connection's memory. Calls on the socket and TLS add to read
// and written; what goes through memory is counted there.
type tally struct {
	peer   Peer
	remote net.Addr
	opened time.Time

	next, prev *tally // in the ledger, which guards them
	open       bool   // it is in the ledger

	read, written, full, sleeps atomic.Uint64

	mu  sync.Mutex         // guards the rings, which are nil before their direction is in memory, and after it
	in  *ring.ByteConsumer // has been given back. mu is taken after that of the Conn
	out *ring.ByteProducer
}

// stats returns the counters now, with the names.
func (t *tally) stats() ConnStats {
	s := t.counts()
	s.Remote = t.remote.String()
	return s
}

// counts returns the counters now.
func (t *tally) counts() ConnStats {
	s := ConnStats{
		Peer: t.peer, Opened: t.opened, Read: t.read.Load(), Written: t.written.Load(), Full: t.full.Load(),
		Sleeps: t.sleeps.Load(),
	}
	most := uint64(ring.BytesMemory(MaxBuffer)) // of a peer that has not changed the positions
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.in != nil {
		written, read := t.in.Positions()
		s.Read += read
		s.Waiting = min(written-read, most)
	}
	if t.out != nil {
		written, read := t.out.Positions()
		s.Written += written
		s.Queued = min(written-read, most)
		s.Memory = true
	}
	return s
}

// movedOut and movedIn say that a direction is in memory from now on.
func (t *tally) movedOut(out *ring.ByteProducer) {
	t.mu.Lock()
	t.out = out
	t.mu.Unlock()
}

func (t *tally) movedIn(in *ring.ByteConsumer) {
	t.mu.Lock()
	t.in = in
	t.mu.Unlock()
}

// forget keeps what the memory has counted: it is about to be given back.
func (t *tally) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.in != nil {
		t.read.Add(t.in.Taken())
		t.in = nil
	}
	if t.out != nil {
		t.written.Add(t.out.Written())
		t.out = nil
	}
}

package fabric

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net"

	"weft/fabric/internal/ofi"
	"weft/internal/transport"
)

// A peer is another rank.
//
//	state    packets to it
//	meeting  are refused: the handshake is under way
//	ready    are sent
//	gone     are lost: its process has ended, the provider does not reach it, or it was forgotten
type peer struct {
	t      *Transport
	rank   int
	state  state
	to     ofi.Addr
	known  bool   // to and ours are set
	ours   uint64 // the token of what we send
	theirs uint64 // the token of what the peer sends: chance, and its rank

	sent, acknowledged   uint32 // packets, and how many of them the peer says that it has consumed
	next, consumed, told uint32 // the next number of the peer's, and how many were consumed here, and as the peer knows
	early                []int  // slots of packets that have overtaken others, plus 1, by number; nil until there is one

	greeted, greets bool // the peer's greeting has come; ours has gone

	conns    []net.Conn    // over which the two have met
	answered chan struct{} // closed when the peer has received all that was sent
}

type state uint8

const (
	meeting state = iota
	ready
	gone
)

// meet returns what is known of a rank that is about to become a peer. The lock is held.
func (t *Transport) meet(rank int) *peer {
	if p := t.peers.Get(rank); p != nil {
		return p
	}
	var token [8]byte
	rand.Read(token[:])
	theirs := binary.LittleEndian.Uint64(token[:])<<rankBits | uint64(rank)
	p := &peer{t: t, rank: rank, theirs: theirs, answered: make(chan struct{})}
	t.peers.Add(rank, p)
	t.met = append(t.met, p)
	return p
}

// rankBits is how many bits of a token are its sender's rank.
const rankBits = 20

// keep keeps the slot of a packet that has overtaken others, and reports whether it is the first of its number.
func (p *peer) keep(number uint32, i int, window uint32) bool {
	if p.early == nil {
		p.early = make([]int, window)
	}
	if p.early[number%window] > 0 {
		return false
	}
	p.early[number%window] = i + 1
	return true
}

// broken takes note that the provider does not reach a peer any more. The lock is held.
func (t *Transport) broken(p *peer, err error) {
	if p != nil {
		t.lose(p, fmt.Errorf("weft: fabric: %v: %w", t.end.Provider, err))
	}
}

// lose takes note that a peer is gone, once. The lock is held.
func (t *Transport) lose(p *peer, cause error) {
	was := p.state
	p.state = gone
	if was == ready && !t.closed {
		go func() {
			t.hangUp(p)
			t.cfg.Events.Down(p.rank, cause)
		}()
	}
}

// hangUp ends the connections to a peer.
func (t *Transport) hangUp(p *peer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range p.conns {
		c.Close()
	}
}

var _ transport.Transport = (*Transport)(nil)

package tcp

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"weft/internal/handshake"
	"weft/internal/sys"
)

// enter handles a peer that has dialled: it makes a connection of the attempt.
func (t *Transport) enter(v *handshake.Attempt) error {
	said, err := t.welcome(v)
	if err == nil {
		err = v.Admit()
	}
	if err != nil {
		return err
	}
	defer v.Conn.Close()
	peer := int(said.Pair().Dialler)
	encrypt, err := t.encrypts(peer)
	if err != nil {
		return err
	}
	s, err := sys.NewStream(v.Conn.(*net.TCPConn))
	if err != nil {
		_, _ = v.Conn.Write(said.Last(handshake.Crowded))
		return err
	}
	c := newConn(peer, s)
	if encrypt {
		c.encrypt(said.Session, false)
	}
	if _, err = v.Conn.Write(said.Last(handshake.Accepted)); err == nil {
		err = t.add(c)
	}
	if err != nil {
		s.Finish(nil)
		return err
	}
	t.cfg.Events.Up(peer)
	return nil
}

// encrypts reports whether the stream to a peer is encrypted.
func (t *Transport) encrypts(peer int) (bool, error) {
	if t.cfg.Encrypt == nil {
		return false, nil
	}
	return t.cfg.Encrypt(peer)
}

// add adds a connection. This process sends to a peer by the first two, whichever side has
// dialled them: two ranks that dial each other at the same time have four.
func (t *Transport) add(n *conn) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return net.ErrClosed
	}
	before := t.conns.Load()
	all := append(slices.Clone(*before), n)
	t.conns.Store(&all)
	if err := t.streams.Add(n.stream); err != nil {
		t.conns.Store(before)
		return err
	}
	if p := t.peers.Get(n.peer); p == nil {
		t.peers.Add(n.peer, &peerConns{ordered: n})
	} else {
		p.bulk.CompareAndSwap(nil, n)
	}
	return nil
}

// peerConns are the connections by which this process sends to a peer. One is for packets that
// keep their order, and one for bulk. So ordered packets do not wait behind bulk in the kernel's
// buffers.
type peerConns struct {
	ordered *conn
	bulk    atomic.Pointer[conn] // the second connection; without one the first, from the first packet of bulk on
}

// forBulk returns the connection for bulk. The choice is for good, so that bulk keeps its order.
func (p *peerConns) forBulk() *conn {
	if c := p.bulk.Load(); c != nil {
		return c
	}
	p.bulk.CompareAndSwap(nil, p.ordered)
	return p.bulk.Load()
}

// hasDialled reports whether a peer that cannot be dialled has dialled this process, perhaps
// just now: a peer that leaves has closed its listener, and may still have something to send.
func (t *Transport) hasDialled(peer int) bool {
	if !t.known(peer) {
		time.Sleep(accepting)
	}
	return t.known(peer)
}

// Dial connects to a peer, unless it has done so.
func (t *Transport) Dial(peer int, card string) error {
	at, err := netip.ParseAddrPort(card)
	if err != nil || at.Port() == 0 {
		return fmt.Errorf("weft: tcp: %q is no address:port", card)
	}
	if t.known(peer) {
		return nil
	}
	err = handshake.Retry(t.done, func() (cut bool, err error) { return t.call(peer, card) })
	if err != nil {
		if t.hasDialled(peer) {
			return nil
		}
		return err
	}
	_, _ = t.call(peer, card) // for bulk, which goes by the first if there is no other
	return nil
}

// call dials a peer once. It reports whether the connection ended in the handshake.
func (t *Transport) call(peer int, card string) (cut bool, err error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	defer handshake.After(t.patience(), func() { cancel(os.ErrDeadlineExceeded) })()
	c, err := new(net.Dialer).DialContext(ctx, "tcp", card)
	if err != nil {
		return false, fmt.Errorf("weft: tcp: %w", cmp.Or(context.Cause(ctx), sys.Explain(err)))
	}
	defer c.Close()
	said, err := t.greet(c, peer)
	if err != nil {
		if cut = handshake.WasCut(err); cut {
			err = fmt.Errorf("weft: tcp: it has ended the handshake (it leaves, or others crowd it): %w", err)
		}
		return cut, err
	}
	encrypt, err := t.encrypts(peer)
	if err != nil {
		return false, err
	}
	s, err := sys.NewStream(c.(*net.TCPConn))
	if err != nil {
		return false, err
	}
	n := newConn(peer, s)
	if encrypt {
		n.encrypt(said, true)
	}
	if err = t.add(n); err != nil {
		s.Finish(nil)
	}
	return false, err
}

func (t *Transport) known(peer int) bool { return t.peers.Get(peer) != nil }

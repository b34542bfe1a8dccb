package fabric

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"weft/internal/handshake"
	"weft/internal/sys"
)

// protocol is part of the proofs.
const protocol = "fabric"

// errStranger reports a peer that does not know the secret.
var errStranger = fmt.Errorf("weft: fabric: %w", handshake.ErrStranger)

func (t *Transport) pair(dialler, listener uint32) handshake.Pair {
	return handshake.Pair{Secret: t.cfg.Secret, Job: t.cfg.Job, Dialler: dialler, Listener: listener}
}

// within returns how long an answer may take.
func (t *Transport) within() time.Duration { return min(t.patience(), handshake.Timeout) }

// patience returns how long a peer may be silent while the two meet. The listener gives a dialler less time (Acceptor):
// the dialler is then cut, and dials again. So a machine that stands still for ten seconds does not end a job that
// allows it minutes.
func (t *Transport) patience() time.Duration {
	if t.cfg.Liveness > 0 {
		return t.cfg.Liveness
	}
	return handshake.Timeout
}

// parseCard returns the address and the provider of a card.
func parseCard(card string) (at, provider string, err error) {
	at, provider, _ = strings.Cut(card, " ")
	a, err := netip.ParseAddrPort(at)
	if err != nil || a.Port() == 0 || provider == "" {
		return "", "", fmt.Errorf("weft: fabric: %q is no address:port and provider", card)
	}
	return at, provider, nil
}

// accepting is how long a connection that the kernel has made may take to be accepted here.
const accepting = 20 * time.Millisecond

// Dial meets a peer, unless the two have met.
func (t *Transport) Dial(rank int, card string) error {
	at, provider, err := parseCard(card)
	if err != nil {
		return err
	}
	if mine := t.end.Provider.Name; provider != mine {
		return fmt.Errorf("weft: fabric: rank %d uses provider %s of libfabric, and this rank %s: set %s alike for all", rank,
			provider, mine, "WEFT_FABRIC")
	}
	if t.hasMet(rank) {
		return nil
	}
	err = handshake.Retry(t.done, func() (cut bool, err error) { return t.call(rank, at) })
	if err != nil && !t.hasMet(rank) { // it may have dialled us, just now: a peer that leaves does not listen any more
		time.Sleep(accepting)
		if !t.hasMet(rank) {
			return err
		}
	}
	return nil
}

// hasMet reports whether packets can be sent to a rank.
func (t *Transport) hasMet(rank int) bool {
	p := t.peers.Get(rank)
	t.mu.Lock()
	defer t.mu.Unlock()
	return p != nil && p.state != meeting
}

// call dials a peer once. It reports whether the connection ended in the handshake.
func (t *Transport) call(rank int, at string) (cut bool, err error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	defer handshake.After(t.patience(), func() { cancel(os.ErrDeadlineExceeded) })()
	c, err := new(net.Dialer).DialContext(ctx, "tcp", at)
	if err != nil {
		return false, fmt.Errorf("weft: fabric: %w", cmp.Or(context.Cause(ctx), sys.Explain(err)))
	}
	if !t.hold(c) {
		return false, net.ErrClosed
	}
	said, err := t.greet(c, rank)
	if err == nil {
		_, err = t.introduce(c, said, rank, true)
	}
	if err != nil {
		t.drop(c)
		if cut = handshake.WasCut(err); cut {
			err = fmt.Errorf("weft: fabric: it has ended the handshake (it leaves, or others crowd it): %w", err)
		}
	}
	return cut, err
}

// greet is the dialler's side of the proofs.
func (t *Transport) greet(c net.Conn, rank int) (s handshake.Session, err error) {
	defer handshake.Within(c, t.patience())()
	s, err = t.pair(uint32(t.cfg.Rank), uint32(rank)).Dial(c, protocol)
	switch {
	case errors.Is(err, handshake.ErrStranger):
		err = errStranger
	case err != nil:
		err = fmt.Errorf("weft: fabric: proving to rank %d that this is rank %d: %w", rank, t.cfg.Rank, err)
		err = &handshake.CutError{Err: err} // also after the reply: the listener's time for a proof may have passed
	}
	return s, err
}

// enter handles a peer that has dialled.
func (t *Transport) enter(v *handshake.Attempt) error {
	said, err := v.Answer(protocol, func(dialler, listener uint32) (handshake.Pair, error) {
		if int(listener) != t.cfg.Rank || int(dialler) >= t.cfg.Size || dialler == listener {
			return handshake.Pair{}, fmt.Errorf("weft: fabric: rank %d looks for rank %d here: %w", dialler, listener,
				errStranger)
		}
		return t.pair(dialler, listener), nil
	})
	if err == nil {
		err = v.Admit()
	}
	if err != nil {
		return err
	}
	if !t.hold(v.Conn) {
		return net.ErrClosed
	}
	rank := int(said.Pair().Dialler)
	fresh := false
	if _, err = v.Conn.Write(said.Last(handshake.Accepted)); err == nil {
		fresh, err = t.introduce(v.Conn, said.Session, rank, false)
	}
	if err != nil {
		t.drop(v.Conn)
		return err
	}
	if fresh {
		t.cfg.Events.Up(rank)
	}
	return nil
}

// hold takes note of a connection, which Close ends. It reports whether the transport is open.
func (t *Transport) hold(c net.Conn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		c.Close()
		return false
	}
	t.conns[c] = struct{}{}
	return true
}

// drop ends a connection.
func (t *Transport) drop(c net.Conn) {
	c.Close()
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.conns, c)
}

// introduce exchanges, over a connection whose other side has proved that it is a rank, how the two reach each other by
// libfabric. When it returns both have received a message of the other. It reports whether they had not met before.
func (t *Transport) introduce(c net.Conn, s handshake.Session, rank int, dialled bool) (fresh bool, err error) {
	late := make(chan struct{})
	defer handshake.Within(c, t.patience())()
	defer handshake.After(t.patience(), sync.OnceFunc(func() { close(late) }))()
	t.mu.Lock()
	p := t.meet(rank)
	card := binary.LittleEndian.AppendUint64(nil, p.theirs)
	card = append(card, t.end.Name...)
	t.mu.Unlock()
	theirs, err := exchange(c, s, card, dialled)
	if err != nil {
		return false, fmt.Errorf("weft: fabric: exchanging addresses with rank %d: %w", rank, err)
	}
	if err := t.learn(p, theirs); err != nil {
		return false, err
	}
	err = t.until(late, func() bool {
		// The lower rank greets first, and with that libfabric connects the two. Ofi_rxm 1.17 may crash where both sides
		// of a pair connect at the same time.
		p.greets = p.greets || (t.cfg.Rank < rank || p.greeted) && t.tell(p, greeting)
		return p.greets && p.greeted || p.state == gone
	})
	if err == nil {
		err = nod(c)
	}
	if err != nil {
		return false, fmt.Errorf("weft: fabric: %v does not reach rank %d: %w", t.end.Provider, rank, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p.conns = append(p.conns, c)
	if fresh = p.state == meeting; fresh {
		p.state = ready
	}
	if t.closed {
		return false, net.ErrClosed
	}
	t.serving.Go(func() { t.listen(p, c) })
	return fresh, nil
}

// exchange sends a card and returns the peer's, encrypted under keys of the handshake.
func exchange(c net.Conn, s handshake.Session, card []byte, dialled bool) ([]byte, error) {
	there := s.Records("fabric card of the dialler")
	back := s.Records("fabric card of the listener")
	if !dialled {
		there, back = back, there
	}
	if _, err := c.Write(there.Append(nil, card, nil)); err != nil {
		return nil, err
	}
	const longest = 1 << 11
	record := make([]byte, handshake.HeadSize)
	if _, err := io.ReadFull(c, record); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(record)
	if n < 8 || n > longest {
		return nil, errStranger
	}
	record = append(record, make([]byte, n+handshake.TagSize)...)
	if _, err := io.ReadFull(c, record[handshake.HeadSize:]); err != nil {
		return nil, err
	}
	return back.Open(record)
}

// learn takes note of a peer's card.
func (t *Transport) learn(p *peer, card []byte) (err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.known || t.closed {
		return nil
	}
	p.ours = binary.LittleEndian.Uint64(card)
	p.to, err = t.end.Insert(card[8:])
	p.known = err == nil
	return err
}

// nod tells the other side that this one is ready, and waits until it is.
func nod(c net.Conn) error {
	one := []byte{1}
	if _, err := c.Write(one); err != nil {
		return err
	}
	_, err := io.ReadFull(c, one)
	return err
}

package weft

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"weft/internal/engine/wire"
	"weft/internal/transport"
	"weft/internal/waittest"
)

// The end of a context ends every call that waits.
func TestDeadlines(t *testing.T) {
	networks(t, 2, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(1, &PortConfig{RecvBuffer: 64 << 10, SendBuffer: 64 << 10})
		if err != nil {
			return err
		}
		signal, err := p.OpenPort(2, nil)
		if err != nil {
			return err
		}
		buf := make([]byte, 20000)
		peer := 1 - p.Rank()
		full := func(ctx context.Context) (err error) { // nobody receives
			for err == nil {
				err = q.Send(ctx, peer, buf)
			}
			return err
		}
		for _, c := range []struct {
			name string
			call func(ctx context.Context) error
		}{
			{"Recv", func(ctx context.Context) error { _, err := q.Recv(ctx); return err }},
			{"RecvFrom", func(ctx context.Context) error { _, err := q.RecvFrom(ctx, peer); return err }},
			{"RecvInto", func(ctx context.Context) error { _, _, err := q.RecvInto(ctx, buf); return err }},
			{"RecvIntoFrom", func(ctx context.Context) error { _, err := q.RecvIntoFrom(ctx, p.Rank(), buf); return err }},
			{"Attach", func(ctx context.Context) error { _, err := p.AttachRegion(ctx, peer, "nothing"); return err }},
		} {
			soon, cancel := context.WithTimeout(ctx, 3*time.Millisecond)
			err := c.call(soon)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("%s: %v", c.name, err)
			}
		}
		if err := meet(ctx, p, signal); err != nil { // nobody receives any more
			return err
		}
		for range 3 { // two messages fill the receive buffer, and one half of the send buffer, which is all for one peer
			if err := q.Send(ctx, peer, buf); err != nil {
				return err
			}
		}
		for _, c := range []struct {
			name string
			call func(ctx context.Context) error
		}{
			{"Send of a long message", func(ctx context.Context) error { return q.Send(ctx, peer, make([]byte, 1<<20)) }},
			{"Send", full},
			{"Flush", q.Flush},
			{"Reserve", func(ctx context.Context) error {
				for {
					d, err := q.Reserve(ctx, peer, len(buf))
					if err != nil {
						return err
					}
					if err := d.Commit(ctx); err != nil {
						return err
					}
				}
			}},
		} {
			soon, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
			err := c.call(soon)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("%s: %v", c.name, err)
			}
		}
		if err := q.TrySend(peer, buf); err != ErrWouldBlock {
			return fmt.Errorf("TrySend: %v", err)
		}
		return meet(ctx, p, signal)
	})
}

// Senders that were refused try again by themselves where the receiver wants
// that, and nothing is lost or out of order.
func TestBackoff(t *testing.T) {
	const total = 400
	everywhere(t, 3, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(1, &PortConfig{RecvBuffer: 64 << 10, Flow: FlowAcks})
		if err != nil {
			return err
		}
		if p.Rank() > 0 {
			for i := range total {
				if err := q.Send(ctx, 0, pattern(1000, i)); err != nil {
					return err
				}
			}
			return q.Flush(ctx)
		}
		next := make([]int, 3)
		for range 2 * total {
			m, err := q.Recv(ctx)
			if err != nil {
				return err
			}
			if want := pattern(1000, next[m.From]); string(m.Data) != string(want) {
				return fmt.Errorf("message %d of rank %d is another", next[m.From], m.From)
			}
			next[m.From]++
			m.Release()
		}
		return nil
	})
}

// cutOff is a transport that can be cut off: nothing leaves it any more.
type cutOff struct {
	transport.Transport
	cut atomic.Bool
}

func (c *cutOff) Send(pkts []transport.Out) int {
	if c.cut.Load() {
		return len(pkts)
	}
	return c.Transport.Send(pkts)
}

// When a request may have reached its target, giving it up says so.
func TestUnknownOutcome(t *testing.T) {
	ctx := within(t)
	var all []*cutOff
	procs := joinAll(t, 2, &Config{Transport: "udp", faults: func(u transport.Transport, _ func()) transport.Transport {
		all = append(all, &cutOff{Transport: u})
		return all[len(all)-1]
	}})
	var w [2]*Region
	for i, p := range procs {
		var err error
		if _, w[i], err = pair(ctx, p, 64, nil); err != nil {
			t.Fatal(err)
		}
	}
	far, err := w[0].At(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	all[1].cut.Store(true) // requests arrive, answers do not
	soon, cancel := context.WithCancel(ctx)
	go func() {
		waittest.Poll(func() bool { return w[1].Load(0) == 1 })
		cancel()
	}()
	_, err = far.FetchAdd(soon, 0, 1)
	var unknown *UnknownOutcomeError
	if !errors.As(err, &unknown) || !errors.Is(err, context.Canceled) {
		t.Errorf("without an answer: %v", err)
	}
	if got := w[1].Load(0); got != 1 {
		t.Errorf("the target has %d: the test is not what it says", got)
	}
}

// Silence for the liveness time is death.
func TestSilentTarget(t *testing.T) {
	t.Parallel()
	faults := []Fault{{Kind: Partition, Ranks: []int{1}, After: Operations{0, 3}}}
	underFaults(t, 2, faults, func(ctx context.Context, p *Proc) error {
		_, w, err := pair(ctx, p, 64, nil)
		if err != nil {
			return err
		}
		far, err := w.At(ctx, 1-p.Rank())
		for err == nil {
			_, err = far.FetchAdd(ctx, 0, 1)
		}
		var dead *PeerError
		if !errors.As(err, &dead) || dead.Rank != 1-p.Rank() {
			return fmt.Errorf("silent peer: %w", err)
		}
		return nil
	})
}

// Packets of strangers are dropped and counted.
func TestStrangers(t *testing.T) {
	ctx := within(t)
	p := joinAll(t, 2, &Config{Transport: "udp"})[0]
	address, _, _ := strings.Cut(p.member.Transports[0].Card(), "/")
	c, err := net.Dial("udp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	good := wire.Link{Kind: wire.KindData, Src: 1, Dst: 0, Job: p.job.ID, Incarnation: 7, Counter: 1}
	other := good
	other.Job++
	elsewhere := good
	elsewhere.Dst = 1
	nobody := good
	nobody.Src = 5
	for _, pkt := range [][]byte{
		[]byte("GET / HTTP/1.1\r\n\r\n"), nil, make([]byte, 64), good.Append(nil)[:63], // malformed
		other.Append(nil), elsewhere.Append(nil), nobody.Append(nil), // foreign
		append(good.Append(nil), wire.Bye{}.Append(nil)...), // forged: it has no tag
	} {
		if _, err := c.Write(pkt); err != nil {
			t.Fatal(err)
		}
	}
	q, err := p.OpenPort(1, nil)
	if err != nil {
		t.Fatal(err)
	}
	for ctx.Err() == nil {
		if _, err := q.TryRecv(); err != ErrWouldBlock {
			t.Fatal(err)
		}
		s := p.Stats()
		if s.Malformed >= 3 && s.Foreign == 3 && s.Forged == 1 {
			return
		}
	}
	t.Errorf("%+v", p.Stats())
}

// A rank that has received a message and does nothing more acknowledges it all the same:
// the service takes the timers over from the goroutine that slept.
func TestLastAcknowledgement(t *testing.T) {
	const rounds = 40
	ctx := within(t)
	procs := joinAll(t, 2, &Config{Transport: "udp", Spin: -1, RetransmitMin: 100 * time.Millisecond,
		Liveness: time.Minute})
	q := openAll(t, procs)
	for range rounds {
		got := make(chan error)
		go func() {
			m, err := q[1].Recv(ctx)
			m.Release()
			got <- err
		}()
		waittest.Until(t, "rank 1 waits", func() bool { return len(procs[1].node.Report().Waits) == 1 })
		if err := errors.Join(q[0].Send(ctx, 1, []byte("one")), <-got, q[0].Flush(ctx)); err != nil {
			t.Fatal(err)
		}
	}
	// A lost acknowledgement is asked for by a packet that is sent again. A loaded machine causes few of these.
	if s := procs[0].Stats(); s.Retransmitted >= rounds {
		t.Errorf("%d messages, %d packets sent again: %+v", rounds, s.Retransmitted, s)
	}
}

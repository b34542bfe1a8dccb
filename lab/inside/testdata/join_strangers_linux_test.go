package weft

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"weft/internal/bootstrap"
	"weft/internal/doorbell"
	"weft/internal/engine/link"
	"weft/internal/engine/wire"
	"weft/internal/join"
	"weft/internal/sys"
	"weft/internal/transport"
	"weft/internal/transport/eth"
	"weft/internal/waittest"
	"weft/lab/netlab"
	"weft/lab/netlab/netlabtest"
)

// tapped is a transport on whose network somebody listens.
type tapped struct {
	transport.Transport
	mu    sync.Mutex
	heard [][]byte
}

func (t *tapped) Poll(dst []transport.In) int {
	n := t.Transport.Poll(dst)
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, in := range dst[:n] {
		if len(in.Data) > 200 && len(t.heard) < 20 { // of the ranks: strangers are brief
			t.heard = append(t.heard, bytes.Clone(in.Data))
		}
	}
	return n
}

// dialsFrom is a transport that dials in a network of its own: names of sockets for
// shared memory belong to one.
type dialsFrom struct {
	transport.Transport
	network string
}

func (d dialsFrom) Dial(rank int, card string) error {
	return sys.InNetwork(d.network, func() error { return d.Transport.Dial(rank, card) })
}

// askedFor is a source that knows for which ranks' cards it was asked.
type askedFor struct {
	bootstrap.Source
	mu    *sync.Mutex
	ranks map[int]bool
}

func (s askedFor) Get(ctx context.Context, rank int, key string) (string, error) {
	s.mu.Lock()
	s.ranks[rank] = true
	s.mu.Unlock()
	return s.Source.Get(ctx, rank, key)
}

// A besieged job is one of five ranks, of which three run, and a way for strangers
// to send packets to each of those.
type besieged struct {
	procs []*Proc
	taps  []*tapped
	asked askedFor
	send  func(to int, pkt []byte)
}

// besiege starts a job whose ranks 0 and 1 are on the same host if it is mixed, and
// talk to others over raw Ethernet, if there is a lab, or UDP.
func besiege(t *testing.T, l *netlab.Lab, mixed bool, guard Guard) *besieged {
	b := &besieged{asked: askedFor{nil, new(sync.Mutex), map[int]bool{}}}
	cfg := Config{Transport: "udp", Guard: guard, Liveness: time.Minute, faults: func(tr transport.Transport, _ func()) transport.Transport {
		b.taps = append(b.taps, &tapped{Transport: tr})
		return b.taps[len(b.taps)-1]
	}}
	switch {
	case l != nil:
		cfg.Transport = "eth"
		cfg.Interface = netlab.Interface
	case mixed:
		cfg.Transport = "auto"
	}
	for rank, src := range bootstrap.NewLocal(5)[:3] {
		host := rank
		local := 1
		if mixed && rank < 2 {
			host = 0
			local = 2
		}
		how := func(m *join.Member) error {
			m.Job.Host = fmt.Sprint("host", host)
			m.Job.Local = local
			return m.Enter(within(t))
		}
		if l != nil {
			how = func(m *join.Member) error {
				if err := enterOn(t, l, host, local)(m); err != nil {
					return err
				}
				m.Transports = slices.Clone(m.Transports) // the node has the other
				m.Transports[0] = dialsFrom{m.Transports[0], l.Hosts[host].Namespace}
				return nil
			}
		}
		p := enter(t, &cfg, askedFor{src, b.asked.mu, b.asked.ranks}, how)
		b.procs = append(b.procs, p)
	}
	if l != nil {
		b.send = b.overEthernet(t, l.Hosts[3])
	} else {
		b.send = b.overUDP(t)
	}
	return b
}

func (b *besieged) overUDP(t *testing.T) func(to int, pkt []byte) {
	var conns []net.Conn
	for _, tap := range b.taps {
		address, _, _ := strings.Cut(tap.Card(), "/")
		c, err := net.Dial("udp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		conns = append(conns, c)
	}
	return func(to int, pkt []byte) { conns[to].Write(pkt) }
}

func (b *besieged) overEthernet(t *testing.T, h netlab.Host) func(to int, pkt []byte) {
	var e *eth.Transport
	err := sys.InNetwork(h.Namespace, func() (err error) {
		e, err = eth.Open(eth.Config{
			Interface: netlab.Interface, Job: b.procs[0].job.ID, Rank: 9, Bell: doorbell.NewChan(),
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	for rank, tap := range b.taps {
		if err := e.Dial(rank, tap.Card()); err != nil {
			t.Fatal(err)
		}
	}
	return func(to int, pkt []byte) { e.Send([]transport.Out{{Peer: to, Header: pkt}}) }
}

// attack sends every rank what strangers can: packets that say they are of any rank,
// without a tag, with one under another secret, or with a checksum; and what they
// have heard, once more, to its receiver and to others.
func (b *besieged) attack() {
	for to, p := range b.procs {
		for src := range uint32(6) {
			for _, flags := range []wire.Flags{0, wire.Checksum, wire.Encrypted} {
				for k := wire.KindData; k <= wire.KindProbe; k++ {
					f := wire.Link{Kind: k, Src: src, Dst: uint32(to), Job: p.job.ID, Incarnation: 7, Counter: 1 << 40, Flags: flags}
					if pkt := f.Append(nil); k == wire.KindData {
						b.send(to, append(pkt, wire.Bye{}.Append(nil)...))
					} else {
						b.send(to, pkt)
					}
				}
				b.send(to, otherSecret(p, src, flags))
			}
		}
		tap := b.taps[to]
		tap.mu.Lock()
		heard := tap.heard
		tap.mu.Unlock()
		for _, pkt := range heard {
			for other := range b.procs {
				b.send(other, pkt)
			}
		}
	}
}

// otherSecret returns a BYE that is right in everything but the secret.
func otherSecret(p *Proc, src uint32, flags wire.Flags) []byte {
	c := link.NewConn(&link.Config{}, link.NewSelf(p.job.ID, src, 7, []byte("another")), uint32(p.Rank()), p.member.Life)
	switch flags {
	case wire.Checksum:
		c.Guard(link.Checked)
	case wire.Encrypted:
		c.Guard(link.Encrypted)
	}
	var out [1]link.Packet
	c.Queue(1, wire.Bye{}.Append(nil), nil)
	c.Output(1, out[:])
	return append(out[0].Header, out[0].Payload...)
}

// round has every rank send each other a message.
func (b *besieged) round(ports []*Port) func(ctx context.Context, p *Proc) error {
	return func(ctx context.Context, p *Proc) error {
		q := ports[p.Rank()]
		for to := range b.procs {
			if err := q.Send(ctx, to, pattern(2000, to)); err != nil {
				return err
			}
		}
		for range b.procs {
			m, err := q.Recv(ctx)
			if err != nil {
				return err
			}
			if !bytes.Equal(m.Data, pattern(2000, p.Rank())) {
				return fmt.Errorf("%d bytes of rank %d, and not what it sent", len(m.Data), m.From)
			}
			m.Release()
		}
		return q.Flush(ctx)
	}
}

// TestSiege: strangers on the network do nothing to a job, whatever carries its
// packets, and however its ranks are spread: no rank is taken for gone, none is
// dialled, and nothing is received.
func TestSiege(t *testing.T) {
	netlabtest.AtLength(t)
	siege := func(t *testing.T, name string, l *netlab.Lab, mixed bool, guard Guard) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			besiege(t, l, mixed, guard).hold(t)
		})
	}
	t.Run("over UDP", func(t *testing.T) {
		siege(t, "alone", nil, false, "")
		siege(t, "alone, with checksums", nil, false, GuardChecksum)
		siege(t, "alone, encrypted", nil, false, GuardEncrypt)
		siege(t, "and shared memory", nil, true, "")
		siege(t, "and shared memory, encrypted", nil, true, GuardEncrypt)
	})
	t.Run("over raw Ethernet", func(t *testing.T) {
		l := hosts(t, 4, 1500)
		siege(t, "alone, with checksums", l, false, "")
		siege(t, "alone, with tags", l, false, GuardAuthenticate)
		siege(t, "alone, encrypted", l, false, GuardEncrypt)
		siege(t, "and shared memory, with checksums", l, true, "")
		siege(t, "and shared memory, with tags", l, true, GuardAuthenticate)
		siege(t, "and shared memory, encrypted", l, true, GuardEncrypt)
	})
}

// hold has the ranks exchange messages, while they are attacked, and makes sure that they are unharmed.
func (b *besieged) hold(t *testing.T) {
	ctx := within(t)
	b.attack() // before anybody has spoken
	var ports []*Port
	for _, p := range b.procs {
		q, err := p.OpenPort(1, nil)
		if err != nil {
			t.Fatal(err)
		}
		ports = append(ports, q)
	}
	for range 10 {
		for range 20 {
			if err := together(ctx, b.procs, b.round(ports)); err != nil {
				t.Fatal(err)
			}
		}
		b.attack()
	}
	b.unharmed(t)
	if b.procs[0].member.Settings.Guard == string(GuardEncrypt) {
		b.unread(t)
	}
}

// unread makes sure that what passed could not be read.
func (b *besieged) unread(t *testing.T) {
	for rank, tap := range b.taps {
		for _, pkt := range tap.heard {
			var f wire.Link
			if _, err := f.Parse(pkt); err != nil || f.Flags&wire.Encrypted == 0 ||
				bytes.Contains(pkt, pattern(2000, rank)[100:132]) {
				t.Fatalf("a packet to rank %d can be read: %v", rank, err)
			}
		}
	}
}

// unharmed makes sure that a job is as it would be without strangers.
func (b *besieged) unharmed(t *testing.T) {
	for _, p := range b.procs {
		if rank, why := p.node.Departed(0); why != nil {
			t.Errorf("rank %d takes rank %d for gone: %v", p.Rank(), rank, why)
		}
		if all := p.Peers(); len(all) != len(b.procs) {
			t.Errorf("rank %d knows %v", p.Rank(), all)
		}
		waittest.Until(t, fmt.Sprintf("rank %d counts the strangers' packets", p.Rank()), func() bool {
			s := p.Stats()
			return s.Foreign > 0 && s.Forged+s.Stale > 0 && (s.Replayed > 0 || p.Rank() != 2)
		})
	}
	b.asked.mu.Lock()
	defer b.asked.mu.Unlock()
	for rank := range b.asked.ranks {
		if rank >= len(b.procs) {
			t.Errorf("rank %d was looked for, of which nobody has heard", rank)
		}
	}
}

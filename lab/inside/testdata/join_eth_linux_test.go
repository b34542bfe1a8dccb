package weft

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"weft/internal/bootstrap"
	"weft/internal/doorbell"
	"weft/internal/join"
	"weft/internal/sys"
	"weft/internal/transport"
	"weft/internal/transport/eth"
	"weft/internal/waittest"
	"weft/lab/netlab"
	"weft/lab/netlab/netlabtest"
)

// hosts makes some for a test, or skips it.
func hosts(t testing.TB, n, mtu int) *netlab.Lab { return trunked(t, n, mtu, 1) }

func trunked(t testing.TB, n, mtu, interfaces int) *netlab.Lab {
	t.Helper()
	return netlabtest.New(t, func() (*netlab.Lab, error) { return netlab.MakeTrunk(n, mtu, interfaces) })
}

// joinEth returns a rank on each of the first n hosts, all in this process, that
// talk over raw Ethernet.
func joinEth(t testing.TB, l *netlab.Lab, n int, cfg Config) []*Proc {
	t.Helper()
	cfg.Transport = "eth"
	if cfg.Interface == "" {
		cfg.Interface = netlab.Interface
	}
	var procs []*Proc
	for rank, src := range bootstrap.NewLocal(n) {
		procs = append(procs, enter(t, &cfg, src, enterOn(t, l, rank, 1)))
	}
	return procs
}

// JoinEth is joinEth for two ranks and for tests of libraries, which package weft itself cannot import.
func JoinEth(t testing.TB) []*Proc { return joinEth(t, hosts(t, 2, 1500), 2, Config{}) }

// enterOn makes a rank enter its job on a host of the lab, on which there are so many ranks.
func enterOn(t testing.TB, l *netlab.Lab, host, local int) func(m *join.Member) error {
	return func(m *join.Member) error {
		m.Job.Host = fmt.Sprint("host", host)
		m.Job.Local = local
		return sys.InNetwork(l.Hosts[host].Namespace, func() error { return m.Enter(within(t)) })
	}
}

// exchange has rank 0 send messages to rank 1, which checks them, and calls
// midway when rank 1 has had a third of them.
func exchange(messages, size int, midway func()) func(ctx context.Context, p *Proc) error {
	return func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		for i := range messages {
			if p.Rank() == 0 {
				if err := q.Send(ctx, 1, pattern(size, i)); err != nil {
					return fmt.Errorf("message %d: %w", i, err)
				}
				continue
			}
			if i == messages/3 {
				midway()
			}
			m, err := q.Recv(ctx)
			if err != nil {
				return fmt.Errorf("message %d: %w", i, err)
			}
			if string(m.Data) != string(pattern(size, i)) {
				return fmt.Errorf("message %d is not what was sent", i)
			}
			m.Release()
		}
		return meet(ctx, p, q)
	}
}

// TestEthInterfaceDown: while a transfer goes on the interface goes off and
// comes back within the liveness time. Nothing is lost.
func TestEthInterfaceDown(t *testing.T) {
	l := hosts(t, 2, 1500)
	procs := joinEth(t, l, 2, Config{Liveness: time.Minute})
	lost := func() uint64 { return procs[0].Stats().Retransmitted + procs[1].Stats().Retransmitted }
	err := runAll(within(t), procs, exchange(300, 20000, func() {
		before := lost()
		if err := l.Hosts[1].SetUp(false); err != nil {
			t.Error(err)
		}
		go func() {
			waittest.Poll(func() bool { return lost() >= before+5 || t.Failed() })
			if err := l.Hosts[1].SetUp(true); err != nil {
				t.Error(err)
			}
		}()
	}))
	if err != nil {
		t.Fatal(err)
	}
}

// TestEthInterfaceStaysDown: both ranks hear that the other is gone.
func TestEthInterfaceStaysDown(t *testing.T) {
	t.Parallel() // it waits for the liveness time
	l := hosts(t, 2, 1500)
	procs := joinEth(t, l, 2, Config{Liveness: 8 * time.Second})
	var gone atomic.Int32
	err := runAll(within(t), procs, func(ctx context.Context, p *Proc) error {
		err := exchange(300, 20000, func() {
			if err := l.Hosts[1].SetUp(false); err != nil {
				t.Error(err)
			}
		})(ctx, p)
		var lost *PeerError
		if !errors.As(err, &lost) || lost.Rank != 1-p.Rank() {
			return fmt.Errorf("rank %d: %w, want a PeerError", p.Rank(), err)
		}
		gone.Add(1)
		return nil
	})
	if err != nil || gone.Load() != 2 {
		t.Fatal(gone.Load(), err)
	}
}

// TestEthMTUs: two hosts whose interfaces differ use the smaller MTU.
func TestEthMTUs(t *testing.T) {
	l := hosts(t, 2, 9000)
	if err := l.Hosts[1].SetMTU(1500); err != nil {
		t.Fatal(err)
	}
	procs := joinEth(t, l, 2, Config{})
	err := runAll(within(t), procs, func(ctx context.Context, p *Proc) error {
		if err := exchange(60, 50000, func() {})(ctx, p); err != nil {
			return err
		}
		peer, err := p.Connect(ctx, 1-p.Rank())
		if err != nil || peer.MTU >= 1500 {
			return fmt.Errorf("rank %d: packets of %d bytes: %w", p.Rank(), peer.MTU, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestEthFlood: another host floods the receiver with frames of no job, of other
// jobs, and of its own job with random contents. They are dropped and counted,
// and the job does not suffer.
func TestEthFlood(t *testing.T) {
	l := hosts(t, 3, 1500)
	procs := joinEth(t, l, 2, Config{})
	var floods []*eth.Transport
	for _, cfg := range []eth.Config{
		{Job: procs[0].job.ID, Rank: 7}, {Job: 4711, Rank: 7}, {Job: procs[0].job.ID, Rank: 8, EtherType: 0x88b6},
	} {
		cfg.Interface = netlab.Interface
		cfg.Bell = doorbell.NewChan()
		var f *eth.Transport
		err := sys.InNetwork(l.Hosts[2].Namespace, func() (err error) {
			f, err = eth.Open(cfg)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := f.Dial(1, procs[1].member.Transports[0].Card()); err != nil {
			t.Fatal(err)
		}
		floods = append(floods, f)
	}
	var stop atomic.Bool
	flooded := make(chan int)
	go func() {
		r := rand.New(rand.NewPCG(1, 2))
		n := 0
		b := make([]byte, 1400)
		for ; !stop.Load(); n++ {
			for i := range b[:100] {
				b[i] = byte(r.Uint32())
			}
			floods[n%len(floods)].Send([]transport.Out{{Peer: 1, Header: b[:r.IntN(len(b))]}})
			if n%8 == 0 {
				runtime.Gosched() // the ranks are in this process
			}
		}
		flooded <- n
	}()
	err := runAll(within(t), procs, exchange(200, 8000, func() {}))
	stop.Store(true)
	sent := <-flooded
	if err != nil {
		t.Fatalf("%v: %d frames, %+v, %+v", err, sent, procs[0].Stats(), procs[1].Stats())
	}
	if s := procs[1].Stats(); s.Malformed == 0 || sent < 100 {
		t.Errorf("%d frames of a flood, of which were dropped: %+v", sent, s)
	}
}

// TestEthSleepers: nobody polls, so every message must wake its receiver.
func TestEthSleepers(t *testing.T) {
	l := hosts(t, 2, 1500)
	procs := joinEth(t, l, 2, Config{Spin: -1})
	err := runAll(within(t), procs, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		b := make([]byte, 8)
		return pingpong(ctx, p, q, b, 2000)
	})
	if err != nil {
		t.Fatal(err)
	}
	if s := procs[0].Stats(); s.Retransmitted > 200 {
		t.Errorf("wake-ups were lost: %+v", s)
	}
}

// TestEthGuards: messages pass under every guard, and the one that is used is told.
func TestEthGuards(t *testing.T) {
	l := hosts(t, 2, 1500)
	for _, guard := range []Guard{GuardChecksum, GuardAuthenticate, GuardEncrypt} {
		procs := joinEth(t, l, 2, Config{Guard: guard})
		if err := runAll(within(t), procs, exchange(50, 3000, func() {})); err != nil {
			t.Fatal(err)
		}
		if p := procs[0].Peers()[1]; p.Guard != guard {
			t.Errorf("%s was asked for: %+v", guard, p)
		}
	}
}

// TestEthTrunk: packets are spread over several interfaces and their order is
// restored: hardly any is taken for lost.
func TestEthTrunk(t *testing.T) {
	for _, interfaces := range []int{2, 4} {
		t.Run(fmt.Sprint(interfaces), func(t *testing.T) {
			l := trunked(t, 2, 1500, interfaces)
			procs := joinEth(t, l, 2, Config{Interface: netlab.Interfaces(interfaces)})
			before := make([]uint64, interfaces)
			for i := range before {
				before[i] = receivedBy(t, l.Hosts[1], i)
			}
			if err := runAll(within(t), procs, exchange(100, 100000, func() {})); err != nil {
				t.Fatal(err)
			}
			s := procs[0].Stats()
			if s.Retransmitted > s.PacketsSent/4 {
				t.Errorf("%d of %d packets were sent again", s.Retransmitted, s.PacketsSent)
			}
			for i := range before {
				if n := receivedBy(t, l.Hosts[1], i) - before[i]; n < s.PacketsSent/uint64(2*interfaces) {
					t.Errorf("interface %d has received %d packets of %d", i, n, s.PacketsSent)
				}
			}
		})
	}
}

// receivedBy returns how many packets a host's interface has received.
func receivedBy(t *testing.T, h netlab.Host, i int) (n uint64) {
	t.Helper()
	err := sys.InNetwork(h.Namespace, func() error {
		b, err := os.ReadFile("/proc/thread-self/net/dev")
		_, rest, _ := strings.Cut(string(b), fmt.Sprintf("eth%d:", i))
		var bytes uint64
		if err == nil {
			_, err = fmt.Sscan(rest, &bytes, &n)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

package weft

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"weft/internal/bootstrap"
	"weft/internal/explore"
	"weft/internal/waittest"
	"weft/lab/netlab"
	"weft/lab/netlab/netlabtest"
)

// descriptors returns how many files and sockets this process has open.
func descriptors(t testing.TB) int {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(open)
}

// heap returns how many bytes of the heap are in use.
func heap() int {
	runtime.GC()
	runtime.GC() // what pools hold stays for one more
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// talk has every rank send a message to each rank that follows it by at least from and less
// than to places, and receive the messages of the ranks before it.
func talk(t testing.TB, procs []*Proc, ports []*Port, from, to int) {
	t.Helper()
	err := together(within(t), procs, func(ctx context.Context, p *Proc) error {
		return exchangeWith(ctx, p, ports[p.Rank()], from, to)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// exchangeWith is what a rank does in talk.
func exchangeWith(ctx context.Context, p *Proc, q *Port, from, to int) error {
	n := p.Size()
	me := p.Rank()
	for d := from; d < to; d++ {
		if err := q.Send(ctx, (me+d)%n, binary.LittleEndian.AppendUint64(nil, uint64(me*n+d))); err != nil {
			return err
		}
	}
	for d := from; d < to; d++ {
		there := (me + n - d) % n
		m, err := q.RecvFrom(ctx, there)
		if err != nil {
			return err
		}
		if len(m.Data) != 8 || binary.LittleEndian.Uint64(m.Data) != uint64(there*n+d) {
			return fmt.Errorf("the message of rank %d is %x", there, m.Data)
		}
		m.Release()
	}
	return q.Flush(ctx)
}

// joinCrowd returns ranks on all hosts of a lab, so many on each, all in this process.
func joinCrowd(t testing.TB, transport Transport, l *netlab.Lab, each int, liveness time.Duration) (procs []*Proc) {
	t.Helper()
	for rank, src := range bootstrap.NewLocal(each * len(l.Hosts)) {
		h := l.Hosts[rank/each]
		procs = append(procs, enter(t, &Config{Transport: transport, Interface: netlab.Interface, Bind: h.IP.String(),
			Liveness: liveness}, src, enterOn(t, l, rank/each, each)))
	}
	return procs
}

// TestManyPeers: 64 ranks on 8 hosts send to each other. Over UDP and raw Ethernet no rank opens
// a socket for that: not for 49 peers on other hosts.
func TestManyPeers(t *testing.T) {
	netlabtest.AtLength(t)
	const (
		n    = 64
		each = 8
	)
	l := hosts(t, n/each, 1500)
	for _, transport := range []Transport{TransportUDP, TransportEth} {
		t.Run(string(transport), func(t *testing.T) {
			procs := joinCrowd(t, transport, l, each, time.Minute)
			ports := openAll(t, procs)
			talk(t, procs, ports, each, each+1) // with one on the next host
			before := descriptors(t)
			talk(t, procs, ports, each, n-each+1) // and with others, all of them on other hosts
			if after := descriptors(t); after != before {
				t.Errorf("%d descriptors, %d when every rank had one peer", after, before)
			} else {
				t.Logf("%d descriptors, %d when every rank had one peer", after, before)
			}
			if transport == TransportUDP { // over eth the ranks of a host share memory, which is found by network namespace
				talk(t, procs, ports, 1, n)
			}
		})
	}
}

// mostSilent is what a rank may keep for a silent peer: the state of the connection, of which
// internal/engine has a test of its own, the driver's and the transport's tables, and how the peer is reached.
const mostSilent = 2200

// TestSilentPeersAreSmall: a rank keeps little for each peer that is silent.
func TestSilentPeersAreSmall(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector takes memory of its own")
	}
	const (
		n    = 16
		few  = 3
		most = mostSilent + 300 // the simulator has tables, too
	)
	var before, after int
	_, err := Simulate(t.Context(), Cluster{Ranks: n}, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		rest := func(bytes *int) error { // until long after a busy peer's signs of life
			if p.Rank() > 0 {
				return p.Sleep(ctx, 2*time.Minute)
			}
			err := p.Sleep(ctx, time.Minute)
			*bytes = heap() // while all others sleep
			return errors.Join(err, p.Sleep(ctx, time.Minute))
		}
		for range 3 { // the port has the blocks that it needs then
			if err := exchangeWith(ctx, p, q, 1, few); err != nil {
				return err
			}
		}
		if err := rest(&before); err != nil {
			return err
		}
		for d := few; d < n; d++ { // one after the other, which takes few blocks of the ports
			if err := exchangeWith(ctx, p, q, d, d+1); err != nil {
				return err
			}
		}
		if err := rest(&after); err != nil {
			return err
		}
		return exchangeWith(ctx, p, q, 1, n)
	})
	if err != nil {
		t.Fatal(err)
	}
	each := (after - before) / (n * (n - few))
	t.Logf("%d bytes for each silent peer", each)
	if each > most {
		t.Errorf("at most %d are expected", most)
	}
}

// TestSilentPeersOfNetworks is the same over networks. It waits for signs of life in real time.
func TestSilentPeersOfNetworks(t *testing.T) {
	if raceEnabled || explore.Round() == 0 {
		t.Skip("runs in exploration (WEFT_EXPLORE=1): it waits for signs of life")
	}
	const (
		n        = 24
		liveness = 6 * time.Second
	)
	t.Run("udp", func(t *testing.T) {
		silentPeers(t, joinAll(t, n, &Config{Transport: TransportUDP, Liveness: liveness}))
	})
	t.Run("eth", func(t *testing.T) { silentPeers(t, joinCrowd(t, TransportEth, hosts(t, n, 1500), 1, liveness)) })
}

// silentPeers has all ranks talk to each other, and waits until little is left of that.
func silentPeers(t *testing.T, procs []*Proc) {
	const few = 3
	n := len(procs)
	ports := openAll(t, procs)
	for range 3 {
		talk(t, procs, ports, 1, few) // the ports have the blocks that they need then
	}
	const busy = 3 << 10 // bytes and more that a peer takes besides
	awake := heap()
	waittest.Until(t, "silent peers give memory back", func() bool { return heap() < awake-n*2*(few-1)*busy/2 })
	before := heap()
	for d := few; d < n; d++ { // one after the other, which takes few blocks of the ports
		talk(t, procs, ports, d, d+1)
	}
	each := func() int { return (heap() - before) / (n * (n - few)) }
	waittest.Until(t, "a silent peer is small", func() bool { return each() <= mostSilent })
	t.Logf("%d bytes for each silent peer", each())
	talk(t, procs, ports, 1, n)
	runtime.KeepAlive(procs)
}

// TestSilentPeersOverTCP: a connection over which nothing goes at present holds no buffers, only what the process must
// know of its peer.
func TestSilentPeersOverTCP(t *testing.T) {
	if raceEnabled || testing.Short() {
		t.Skip("the race detector takes memory of its own")
	}
	const (
		n    = 24
		few  = 3
		most = 16 << 10 // a buffer would be 128 KiB
	)
	procs := joinAll(t, n, &Config{Transport: "tcp"})
	ports := openAll(t, procs)
	for range 3 {
		talk(t, procs, ports, 1, few) // the ports have the blocks that they need then
	}
	before := heap()
	for d := few; d < n; d++ { // one after the other, which takes few blocks of the ports
		talk(t, procs, ports, d, d+1)
	}
	each := func() int { return (heap() - before) / (n * (n - few)) }
	waittest.Until(t, "a silent peer is small", func() bool { return each() <= most })
	t.Logf("%d bytes for each silent peer", each())
	talk(t, procs, ports, 1, n)
	runtime.KeepAlive(procs)
}

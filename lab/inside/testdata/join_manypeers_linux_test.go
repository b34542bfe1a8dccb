package weft

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"weft/internal/bootstrap"
	"weft/internal/sys"
	"weft/lab/netlab"
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
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// openAll opens a port at every rank.
func openAll(t testing.TB, procs []*Proc) []*Port {
	t.Helper()
	ports := make([]*Port, len(procs))
	err := together(within(t), procs, func(ctx context.Context, p *Proc) (err error) {
		ports[p.Rank()], err = p.OpenPort(1, nil)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ports
}

// talk has every rank send a message to each rank that follows it by at least from and less
// than to places, and receive the messages of the ranks before it.
func talk(t testing.TB, procs []*Proc, ports []*Port, from, to int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	err := together(ctx, procs, func(ctx context.Context, p *Proc) error {
		n := p.Size()
		me := p.Rank()
		q := ports[p.Rank()]
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
	})
	if err != nil {
		t.Fatal(err)
	}
}

// joinCrowd returns ranks on all hosts of a lab, so many on each, all in this process.
func joinCrowd(t testing.TB, transport Transport, l *netlab.Lab, each int, liveness time.Duration) (procs []*Proc) {
	t.Helper()
	for rank, src := range bootstrap.NewLocal(each * len(l.Hosts)) {
		h := l.Hosts[rank/each]
		p, err := newProc(&Config{Transport: transport, Interface: netlab.Interface, Bind: h.IP.String(),
			Liveness: liveness}, src)
		if err != nil {
			t.Fatal(err)
		}
		p.job.Host = fmt.Sprint("host", rank/each)
		p.job.Local = each
		if err := sys.InNetwork(h.Namespace, func() error { return p.join(within(t)) }); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Close() })
		procs = append(procs, p)
	}
	return procs
}

// TestManyPeers: 64 ranks on 8 hosts send to each other. Over UDP and raw Ethernet no rank opens
// a socket for that: not for 49 peers on other hosts.
func TestManyPeers(t *testing.T) {
	if raceEnabled || testing.Short() {
		t.Skip("64 ranks take long")
	}
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

// TestSilentPeersAreSmall: a rank keeps little for each peer that is silent: the state of
// the connection, of which internal/engine has a test of its own, the driver's and the
// transport's tables, and how the peer is reached.
func TestSilentPeersAreSmall(t *testing.T) {
	if raceEnabled || testing.Short() {
		t.Skip("it waits for signs of life")
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
	const (
		few  = 3
		most = 2200
	)
	n := len(procs)
	ports := openAll(t, procs)
	for range 3 {
		talk(t, procs, ports, 1, few) // the ports have the blocks that they need then
	}
	const busy = 3 << 10 // bytes and more that a peer takes besides
	awake := heap()
	waits(t, func() bool { return heap() < awake-n*2*(few-1)*busy/2 })
	before := heap()
	for d := few; d < n; d++ { // one after the other, which takes few blocks of the ports
		talk(t, procs, ports, d, d+1)
	}
	each := func() int { return (heap() - before) / (n * (n - few)) }
	waits(t, func() bool { return each() <= most })
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
	waits(t, func() bool { return each() <= most })
	t.Logf("%d bytes for each silent peer", each())
	talk(t, procs, ports, 1, n)
	runtime.KeepAlive(procs)
}

// waits waits until memory has gone back.
func waits(t *testing.T, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !cond(); {
		if time.Now().After(end) {
			t.Fatal("peers that are silent keep their memory")
		}
		time.Sleep(100 * time.Millisecond) // looks for the event; there is no other way to hear of it
	}
}

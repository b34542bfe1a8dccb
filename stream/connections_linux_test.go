package stream

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"strconv"
	"testing"
	"time"

	"weft/internal/waittest"
)

var connections = flag.Int("connections", 1000, "of TestManyConnections")

// A thousand connections that wait: a goroutine each, hardly a thread, little memory.
func TestManyConnections(t *testing.T) {
	n := *connections
	l := listenAt(t, new(Config))
	shared := status(t, "RssShmem")
	child := start(t, "many", l.Addr().String(), strconv.Itoa(n))
	var conns []net.Conn
	ended := make(chan error, n)
	for range n {
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
		go func() {
			_, err := c.Read(make([]byte, 1))
			ended <- err
		}()
	}
	child.expect(t, "connected")
	each := (status(t, "RssShmem") - shared) * 1024 / n
	if threads := status(t, "Threads"); threads > 40 {
		t.Errorf("%d threads", threads)
	}
	if each > 64<<10 {
		t.Errorf("%d bytes for each connection", each)
	}
	t.Logf("%d bytes each, %d threads", each, status(t, "Threads"))
	for _, c := range conns {
		c.Write([]byte{1})
	}
	child.expect(t, "all have read")
	for _, c := range conns {
		c.Close()
	}
	for range n {
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Fatal(err)
		}
	}
}

// Connections that have been busy, whose rings have grown, give their memory back when they are
// idle, and grow again when they are used.
func TestIdleRingsShrink(t *testing.T) {
	const n = 50
	l := listenAt(t, new(Config))
	before := status(t, "RssShmem")
	var dialled, accepted []*Conn
	for range n {
		c := dialConn(t, new(Config), l.Addr().String())
		defer c.Close()
		a, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		c.idle.after = 20 * time.Millisecond
		move(t, c, a.(*Conn))
		dialled = append(dialled, c)
		accepted = append(accepted, a.(*Conn))
	}
	for round := range 2 {
		for i, c := range dialled {
			sent := make(chan error)
			go func() {
				_, err := c.Write(make([]byte, 4*defaultBuffer))
				sent <- err
			}()
			if _, err := io.ReadFull(accepted[i], make([]byte, 4*defaultBuffer)); err != nil {
				t.Fatal(err)
			}
			if err := <-sent; err != nil {
				t.Fatal(err)
			}
		}
		waittest.Until(t, fmt.Sprintf("round %d: rings that are idle are small", round), func() bool {
			return (status(t, "RssShmem")-before)*1024/n <= 16<<10
		})
	}
}

// TestEachCostsTheSame: what a process has for each connection with another one does not depend on how many there are:
// a descriptor, some memory, and its share of mappings, of which a few suffice for 60,000 (TestArenasOfMany).
func TestEachCostsTheSame(t *testing.T) {
	n := *connections
	l := listenAt(t, new(Config))
	child := start(t, "arenas", l.Addr().String(), strconv.Itoa(n))
	had := descriptors(t)
	shared := status(t, "RssShmem")
	private := status(t, "RssAnon")
	arenas := 0
	for k, slots := 1, 0; k <= n; k++ {
		a, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		conn := a.(*Conn)
		conn.early.within = 1 << 40
		defer conn.Close()
		go func() { // an echo
			b := make([]byte, 1)
			for {
				if _, err := conn.Read(b); err != nil {
					return
				}
				if _, err := conn.Write(b); err != nil {
					return
				}
			}
		}()
		for ; slots < k; arenas++ {
			slots += debtor{process: 1, buffer: defaultBuffer}.layout(slots).slots
		}
		if k == n {
			child.expect(t, "moved")
		}
		if k != n && k != n/2 && k != n/4 {
			continue
		}
		waittest.Until(t, "the connection has left its socket", func() bool { return descriptors(t)-had <= k+2*arenas })
		if got := arenasMapped(t); got > arenas {
			t.Errorf("%d connections have %d mappings", k, got)
		}
		each := (status(t, "RssShmem") - shared) * 1024 / k
		if each > 12<<10 {
			t.Errorf("each of %d connections has %d bytes of shared memory", k, each)
		}
		t.Logf("%d connections: %d descriptors, %d mappings, %d bytes shared and %d private each, %d threads", k,
			descriptors(t)-had, arenasMapped(t), each, (status(t, "RssAnon")-private)*1024/k, status(t, "Threads"))
	}
}

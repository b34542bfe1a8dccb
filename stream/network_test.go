package stream

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"weft"
	"weft/internal/waittest"
)

// within returns a context that ends a test if something hangs.
func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
	t.Cleanup(cancel)
	return ctx
}

// noise returns n bytes that differ.
func noise(n int) []byte {
	b := make([]byte, n)
	rnd := rand.New(rand.NewPCG(uint64(n), 1))
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	return b
}

// echo has the other side say what this one says.
func echo(t *testing.T, c net.Conn) {
	t.Helper()
	b := []byte("hello")
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, b); err != nil || string(b) != "hello" {
		t.Fatalf("%q, %v", b, err)
	}
}

// job returns the networks of a job whose ranks are goroutines.
func job(t testing.TB, ranks int, cfg *Config) []*Network {
	t.Helper()
	ctx := within(t)
	nets := make([]*Network, ranks)
	opened := make(chan error)
	done := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		ended <- weft.Local(ctx, ranks, func(ctx context.Context, p *weft.Proc) error {
			n, err := cfg.Open(p, 5)
			nets[p.Rank()] = n
			opened <- err
			if err != nil {
				return err
			}
			<-done
			if err := n.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
				return err
			}
			return nil
		})
	}()
	for range ranks {
		if err := <-opened; err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		close(done)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return nets
}

// join returns both ends of a connection from one network to another.
func join(t testing.TB, from, to *Network) (dialled, accepted *RankConn) {
	t.Helper()
	l, err := to.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	// The dial has no deadline: in a simulation it would be one of virtual time.
	return connect(t, l, func() (*RankConn, error) { return from.Dial(t.Context(), to.p.Rank()) })
}

func TestRankConn(t *testing.T) {
	for name, ends := range map[string][2]int{"two ranks": {0, 1}, "one rank": {0, 0}} {
		t.Run(name, func(t *testing.T) {
			nets := job(t, 2, new(Config))
			testConn(t, func() (dialled, accepted *RankConn) { return join(t, nets[ends[0]], nets[ends[1]]) })
		})
	}
}

// A dial waits for a listener that is to come, is refused by one that has been closed, and
// ends with its context.
func TestDialRanks(t *testing.T) {
	nets := job(t, 2, new(Config))
	giveUpDial(t, nets[0], nets[1])
	waits := make(chan *RankConn, 1)
	go func() {
		c, err := nets[0].Dial(within(t), 1)
		if err != nil {
			t.Error(err)
		}
		waits <- c
	}()
	l, err := nets[1].Listen()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := nets[1].Listen(); err == nil || errors.Is(err, net.ErrClosed) {
		t.Error("a network has two listeners")
	}
	a, err := l.Accept() // not the one that was given up
	if err != nil {
		t.Fatal(err)
	}
	d := <-waits
	if _, err := d.Write([]byte("hello")); err != nil {
		t.Error(err)
	}
	b := make([]byte, 5)
	if _, err := io.ReadFull(a, b); err != nil || string(b) != "hello" {
		t.Errorf("%q, %v", b, err)
	}
	if got := a.RemoteAddr().String() + " " + a.LocalAddr().String() + " " +
		d.RemoteAddr().Network(); got != "rank0:5 rank1:5 weft" {
		t.Errorf("addresses: %s", got)
	}
	c, err := nets[0].DialContext(within(t), "tcp", l.Addr().String())
	if err != nil {
		t.Error(err)
	}
	l.Close()
	if _, err := io.ReadAll(c); err != nil { // nobody has accepted it
		t.Error(err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept after Close: %v", err)
	}
	if _, err := nets[0].Dial(within(t), 1); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a dial to a listener that has been closed: %v", err)
	}
	if _, err := nets[0].Dial(within(t), 2); !errors.Is(err, weft.ErrRank) {
		t.Errorf("a dial to a rank that there is not: %v", err)
	}
	for _, address := range []string{"", "3", "host:80", "rank", "rankx:1", "rank1.5:3"} {
		var e *net.AddrError
		if _, err := nets[0].DialContext(within(t), "tcp", address); !errors.As(err, &e) {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// giveUpDial dials a rank that does not listen, gives up, and returns when the other rank knows of it.
func giveUpDial(t *testing.T, from, to *Network) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	dialled := make(chan error, 1)
	go func() {
		_, err := from.Dial(ctx, to.p.Rank())
		dialled <- err
	}()
	cancel()
	if err := <-dialled; !errors.Is(err, context.Canceled) {
		t.Errorf("a dial that was given up: %v", err)
	}
	for givenUp := false; !givenUp; {
		to.mu.Lock()
		for _, c := range to.opens {
			c.mu.Lock()
			givenUp = c.ended && c.stopped
			c.mu.Unlock()
		}
		to.mu.Unlock()
		runtime.Gosched()
	}
}

// More connections than a backlog has room for wait, and all are accepted.
func TestRankBacklog(t *testing.T) {
	nets := job(t, 2, &Config{Backlog: 2})
	l, err := nets[1].Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const n = 20
	var dials sync.WaitGroup
	for range n {
		dials.Go(func() {
			c, err := nets[0].Dial(within(t), 1)
			if err != nil {
				t.Error(err)
				return
			}
			c.CloseWrite()
			io.Copy(io.Discard, c)
			c.Close()
		})
	}
	for range n {
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(c); err != nil {
			t.Error(err)
		}
		c.Close()
	}
	dials.Wait()
	nets[1].mu.Lock()
	defer nets[1].mu.Unlock()
	if len(nets[1].conns) != 0 || len(nets[1].opens) != 0 {
		t.Errorf("%d connections are left, %d opens", len(nets[1].conns), len(nets[1].opens))
	}
}

// A call of Write all of whose bytes have been sent succeeds, even if the peer stops reading before it returns.
func TestWriteToPeerThatStops(t *testing.T) {
	nets := job(t, 1, new(Config))
	c, _ := join(t, nets[0], nets[0])
	leaves := func() bool { // the bytes are about to leave: the peer stops reading
		c.mu.Lock()
		defer c.mu.Unlock()
		c.stopped = c.sent > c.acked
		return c.stopped
	}
	for range 10000 {
		wrote := make(chan error)
		go func() {
			_, err := c.Write([]byte{1})
			wrote <- err
		}()
		for !leaves() {
			runtime.Gosched()
		}
		if err := <-wrote; err != nil {
			t.Fatal(err)
		}
		c.mu.Lock()
		c.stopped = false
		c.acked = c.sent
		c.mu.Unlock()
	}
}

// A writer is at most Config.Buffer ahead of the reader, and what waits is all that takes
// memory.
func TestRankWindow(t *testing.T) {
	nets := job(t, 2, &Config{Buffer: 64 << 10})
	c1, c2 := join(t, nets[0], nets[1])
	wrote := make(chan int)
	go func() {
		n, err := c1.Write(make([]byte, 1<<20))
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
		wrote <- n
	}()
	waiting := func() int {
		c2.mu.Lock()
		defer c2.mu.Unlock()
		n := 0
		for k := c2.in.first; k != nil; k = k.next {
			n += k.w - k.r
		}
		return n
	}
	waittest.Until(t, "the network has brought what there is room for", func() bool { return waiting() >= 64<<10 })
	c1.SetWriteDeadline(time.Unix(1, 0))
	if n := <-wrote; n != 64<<10 {
		t.Errorf("%d bytes were written to a connection that holds %d", n, 64<<10)
	}
	if _, err := io.ReadFull(c2, make([]byte, 64<<10)); err != nil {
		t.Fatal(err)
	}
	if c2.in.first != nil {
		t.Error("an empty connection holds memory")
	}
	c1.SetWriteDeadline(time.Time{})
	if _, err := c1.Write(make([]byte, 64<<10)); err != nil {
		t.Errorf("after all has been read: %v", err)
	}
}

// The end of a network ends its connections here and there, and its dials.
func TestNetworkCloses(t *testing.T) {
	nets := job(t, 2, new(Config))
	c1, c2 := join(t, nets[0], nets[1])
	reads := make(chan error, 2)
	dials := make(chan error, 1)
	go func() {
		_, err := c1.Read(make([]byte, 1))
		reads <- err
	}()
	go func() {
		_, err := nets[1].Listen()
		if err == nil {
			_, err = nets[0].Dial(within(t), 0) // nobody listens yet
		}
		dials <- err
	}()
	c2.Write([]byte("x"))
	<-reads
	if err := nets[0].Close(); err != nil {
		t.Error(err)
	}
	if err := <-dials; err == nil {
		t.Error("a dial succeeds over a network that is closed")
	}
	if _, err := io.ReadAll(c2); err != nil {
		t.Errorf("the other side reads: %v", err)
	}
	if _, err := c2.Write([]byte{1}); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("the other side writes: %v", err)
	}
	if _, err := nets[0].Dial(within(t), 1); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a later dial: %v", err)
	}
	if err := nets[0].Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a second Close: %v", err)
	}
}

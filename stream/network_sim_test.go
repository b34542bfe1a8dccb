package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"weft"
)

// simulated runs a test as rank 0 of a simulated cluster, while rank 1 has a network, too. The
// test, and what it starts by go statements, may use both networks. Timers of package time do
// not pass in virtual time, and a cluster on which everybody waits for them would be taken
// to be stuck: so rank 1 also sleeps, again and again.
func simulated(t *testing.T, c weft.Cluster, test func(ctx context.Context, nets []*Network)) (*weft.Simulation,
	error) {
	nets := make([]*Network, 2)
	opened := make(chan bool, 2)
	done := make(chan bool)
	c.Ranks = 2
	return weft.Simulate(t.Context(), c, func(ctx context.Context, p *weft.Proc) error {
		n, err := Open(p, 5)
		if err != nil {
			return err
		}
		nets[p.Rank()] = n
		opened <- true
		if p.Rank() == 1 {
			awake, cancel := context.WithCancel(ctx)
			p.Go(func() {
				for p.Sleep(awake, 10*time.Second) == nil {
				}
			})
			<-done
			cancel()
			return n.Close()
		}
		<-opened
		<-opened
		test(ctx, nets)
		close(done)
		return n.Close()
	})
}

// x/net's test of connections passes on a simulated cluster that loses packets.
func TestRankConnSimulated(t *testing.T) {
	if raceEnabled {
		t.Skip("TestRankConn races as well")
	}
	s, err := simulated(t, weft.Cluster{Loss: 0.05, Seed: 3}, func(_ context.Context, nets []*Network) {
		testConn(t, func() (dialled, accepted *RankConn) { return join(t, nets[0], nets[1]) })
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.Lost == 0 || s.Resent == 0 {
		t.Errorf("%d packets were lost, %d sent again", s.Lost, s.Resent)
	}
}

// An unmodified HTTP server and its client on a cluster that loses a packet in ten: each
// request is answered, once.
func TestHTTPSimulated(t *testing.T) {
	s, err := simulated(t, weft.Cluster{Loss: 0.1, Seed: 1}, func(ctx context.Context, nets []*Network) {
		l, err := nets[1].Listen()
		if err != nil {
			t.Error(err)
			return
		}
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body) // all: HTTP/1 does not read what comes after the answer has begun
			fmt.Fprintf(w, "%s to %s: %s", r.RemoteAddr, r.Host, body)
		})}
		go server.Serve(l)
		defer server.Close()
		client := http.Client{Transport: &http.Transport{DialContext: nets[0].DialContext}}
		defer client.CloseIdleConnections()
		for i := range 20 {
			body := strings.Repeat(fmt.Sprint(i), 5000)
			answer, err := client.Post("http://rank1/", "text/plain", strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			got, err := io.ReadAll(answer.Body)
			if want := "rank0:5 to rank1: " + body; err != nil || string(got) != want {
				t.Errorf("request %d: %d bytes, %v", i, len(got), err)
			}
			answer.Body.Close()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.Lost == 0 {
		t.Error("nothing was lost")
	}
}

// now returns the time of a goroutine that has waited in Go: it takes its turn first.
func now(ctx context.Context, p *weft.Proc) time.Duration {
	_ = p.Sleep(ctx, 0)
	return p.Now()
}

// Goroutines of ranks wait with deadlines in virtual time: in the middle of a call, and of a dial.
func TestDeadlinesSimulated(t *testing.T) {
	_, err := weft.Simulate(within(t), weft.Cluster{Ranks: 2}, func(ctx context.Context, p *weft.Proc) error {
		n, err := Open(p, 5)
		if err != nil {
			return err
		}
		defer n.Close()
		if p.Rank() == 1 {
			l, err := n.Listen()
			if err != nil {
				return err
			}
			c, err := l.Accept()
			if err != nil {
				return err
			}
			b := make([]byte, 1)
			if _, err := io.ReadFull(c, b); err != nil {
				return err
			}
			l.Close()
			if _, err := c.Read(b); err != io.EOF {
				return fmt.Errorf("the end: %w", err)
			}
			return nil
		}
		c, err := n.Dial(ctx, 1)
		if err != nil {
			return err
		}
		begun := now(ctx, p)
		c.SetReadDeadline(time.Now().Add(1000 * time.Second))
		_, err = c.Read(make([]byte, 1))
		if e, ok := err.(net.Error); !ok || !e.Timeout() {
			return fmt.Errorf("Read: %w", err)
		}
		if took := now(ctx, p) - begun; took < 999*time.Second || took > 1001*time.Second {
			return fmt.Errorf("a deadline of 1000 s ends a call after %v", took)
		}
		short, cancel := context.WithTimeout(ctx, 500*time.Second)
		defer cancel()
		if _, err := n.Dial(short, 0); !errors.Is(err, context.DeadlineExceeded) { // nobody listens
			return fmt.Errorf("Dial: %w", err)
		}
		if _, err := c.Write([]byte{1}); err != nil {
			return err
		}
		return c.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
}

// When a rank dies, what it had written can be read, and then its connections are reset.
func TestRankDies(t *testing.T) {
	c := weft.Cluster{Ranks: 2, Liveness: time.Second,
		Faults: []weft.Fault{{Kind: weft.Crash, Ranks: []int{1}, At: 10 * time.Second}}}
	_, err := weft.Simulate(within(t), c, func(ctx context.Context, p *weft.Proc) error {
		n, err := Open(p, 5)
		if err != nil {
			return err
		}
		if p.Rank() == 1 {
			c, err := n.Dial(ctx, 0)
			if err != nil {
				return err
			}
			if _, err := c.Write([]byte("last words")); err != nil {
				return err
			}
			return p.Sleep(ctx, time.Hour)
		}
		defer n.Close()
		l, err := n.Listen()
		if err != nil {
			return err
		}
		c, err := l.Accept()
		if err != nil {
			return err
		}
		b, err := io.ReadAll(c)
		if string(b) != "last words" || !errors.Is(err, syscall.ECONNRESET) || !errors.Is(err, weft.ErrPeer) {
			return fmt.Errorf("read %q, and then %w", b, err)
		}
		if at := now(ctx, p); at > 13*time.Second {
			return fmt.Errorf("the death is known at %v", at)
		}
		if _, err := c.Write([]byte{1}); !errors.Is(err, syscall.EPIPE) {
			return fmt.Errorf("Write: %w", err)
		}
		if _, err := n.Dial(ctx, 1); !errors.Is(err, weft.ErrPeer) {
			return fmt.Errorf("Dial: %w", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestReturnFollowsLastWords: a rank whose program has returned is gone for a network only behind all that it had sent,
// also if the network is opened later.
func TestReturnFollowsLastWords(t *testing.T) {
	_, err := weft.Simulate(within(t), weft.Cluster{Ranks: 2}, func(ctx context.Context, p *weft.Proc) error {
		if p.Rank() == 1 { // a network would wait for the answer to its dial
			q, err := p.OpenPort(5, nil)
			if err != nil {
				return err
			}
			dial := frame{kind: frameOpen, dialled: true, arg: 1 << 16, id: 9}
			for _, f := range []frame{dial, {kind: frameData, dialled: true, id: 9}} {
				b := make([]byte, headerBytes)
				f.put(b)
				if f.kind == frameData {
					b = append(b, "last words"...)
				}
				if err := q.Send(ctx, 0, b); err != nil {
					return err
				}
			}
			return nil
		}
		for gone := range p.Deaths(ctx) {
			if gone.Rank == 1 {
				break
			}
		}
		n, err := Open(p, 5)
		if err != nil {
			return err
		}
		defer n.Close()
		l, err := n.Listen()
		if err != nil {
			return err
		}
		if err := p.Sleep(ctx, time.Second); err != nil {
			return err
		}
		c, err := l.Accept()
		if err != nil {
			return err
		}
		b, err := io.ReadAll(c)
		if string(b) != "last words" || !errors.Is(err, weft.ErrPeer) {
			return fmt.Errorf("read %q, and then %w", b, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

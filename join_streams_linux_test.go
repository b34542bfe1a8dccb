package weft_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"golang.org/x/net/nettest"

	"weft"
	"weft/job"
	"weft/stream"
)

// The connections of package stream are net.Conn in full over every transport.
func TestStreamsOverTransports(t *testing.T) {
	for _, c := range []struct {
		transport weft.Transport
		guard     weft.Guard
	}{
		{"shm", ""}, {"udp", ""}, {"tcp", ""}, {"udp", weft.GuardEncrypt}, {"tcp", weft.GuardEncrypt},
	} {
		if weft.RaceEnabled && c.guard != "" {
			continue // guards are made under the node's lock, and the run without the race detector has them
		}
		t.Run(fmt.Sprint(c.transport, c.guard), func(t *testing.T) {
			procs := weft.JoinAll(t, 2, &weft.Config{Transport: c.transport, Guard: c.guard})
			var nets [2]*stream.Network
			for i, p := range procs {
				n, err := stream.Open(p, 5)
				if err != nil {
					t.Fatal(err)
				}
				defer n.Close()
				nets[i] = n
			}
			l, err := nets[1].Listen()
			if err != nil {
				t.Fatal(err)
			}
			nettest.TestConn(t, func() (c1, c2 net.Conn, stop func(), err error) {
				if c1, err = nets[0].Dial(t.Context(), 1); err != nil {
					return nil, nil, nil, err
				}
				if c2, err = l.Accept(); err != nil {
					return nil, nil, nil, err
				}
				return c1, c2, func() {
					c1.Close()
					c2.Close()
				}, nil
			})
		})
	}
}

// TestMain makes this test's executable what package job starts.
func TestMain(m *testing.M) {
	job.Main(map[string]func(context.Context, *weft.Proc) error{"severed": severed})
	os.Exit(m.Run())
}

// severed has rank 1 dial rank 0, write, and wait to be killed: rank 0 reads what was written, and
// is told of the death, also by a Write that waits.
func severed(ctx context.Context, p *weft.Proc) error {
	n, err := stream.Open(p, 5)
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
		<-ctx.Done()
		return ctx.Err()
	}
	l, err := n.Listen()
	if err != nil {
		return err
	}
	c, err := l.Accept()
	if err != nil {
		return err
	}
	wrote := make(chan error)
	go func() {
		_, err := c.Write(make([]byte, 1<<20)) // nobody reads
		wrote <- err
	}()
	b := make([]byte, 10)
	if _, err := io.ReadFull(c, b); err != nil {
		return err
	}
	fmt.Printf("%s\n", b)
	_, err = c.Read(b)
	fmt.Println("reset:", errors.Is(err, syscall.ECONNRESET), errors.Is(err, weft.ErrPeer))
	fmt.Println("broken:", errors.Is(<-wrote, syscall.EPIPE))
	return n.Close()
}

// A rank that is killed resets its connections, on every transport.
func TestStreamsOfTheKilled(t *testing.T) {
	for _, transport := range []weft.Transport{weft.TransportShm, weft.TransportUDP, weft.TransportTCP} {
		t.Run(string(transport), func(t *testing.T) {
			j, err := job.Start(t.Context(), job.Config{Ranks: 2, Run: "severed", Transport: transport, Liveness: -1})
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			if err := j.Await(t.Context(), 0, "last words"); err != nil {
				t.Fatal(err)
			}
			j.Kill(1)
			if err := j.Wait(t.Context()); err != nil {
				t.Error(err)
			}
			if j.Output(0) != "last words\nreset: true true\nbroken: true\n" {
				t.Errorf("%q", j.Output(0))
			}
		})
	}
}

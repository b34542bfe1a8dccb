package weft

import (
	"context"
	"fmt"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestGolden runs workloads in the simulator and compares their packets, bytes, repeated packets and virtual time
// with testdata/performance. The figures are exact, so a change of the protocol shows as a difference. After an
// intended change run
//
//	go test . -run Golden -rewrite
func TestGolden(t *testing.T) {
	datadriven.RunTest(t, "testdata/performance", func(t *testing.T, d *datadriven.TestData) string {
		c := Cluster{Ranks: 2, Link: "10Gbps,1us", MTU: 1500}
		size := 8
		count := 1
		lost := 0
		d.MaybeScanArgs(t, "ranks", &c.Ranks)
		d.MaybeScanArgs(t, "topology", &c.Topology)
		d.MaybeScanArgs(t, "link", &c.Link)
		d.MaybeScanArgs(t, "mtu", &c.MTU)
		d.MaybeScanArgs(t, "lost-percent", &lost)
		d.MaybeScanArgs(t, "size", &size)
		d.MaybeScanArgs(t, "count", &count)
		c.Loss = float64(lost) / 100
		c.GoBackN = d.HasArg("go-back-n")
		work := workloads[d.Cmd]
		if work == nil {
			t.Fatalf("%s: there is no workload %q", d.Pos, d.Cmd)
		}
		s, err := Simulate(within(t), c, func(ctx context.Context, p *Proc) error { return work(ctx, p, size, count) })
		if err != nil {
			t.Fatalf("%s: %v", d.Pos, err)
		}
		return fmt.Sprintf("packets %d, bytes %d, resent %d, time %v\n", s.Packets, s.Bytes, s.Resent, s.Time)
	})
}

// A workload is the program of one rank.
type workload func(ctx context.Context, p *Proc, size, count int) error

var workloads = map[string]workload{
	"pingpong": onPort(pingpong), "stream": onPort(stream), "alltoall": onPort(allToAll), "push": pushes,
	"pull": pulls, "tickets": tickets,
}

// onPort returns a workload that sends and receives a buffer on a port, and waits at the end until everything has
// arrived.
func onPort(work func(ctx context.Context, p *Proc, q *Port, b []byte, count int) error) workload {
	return func(ctx context.Context, p *Proc, size, count int) error {
		q, err := p.OpenPort(1, nil)
		if err == nil {
			err = work(ctx, p, q, make([]byte, size), count)
		}
		if err != nil {
			return err
		}
		return q.Flush(ctx)
	}
}

// pingpong sends messages to and fro.
func pingpong(ctx context.Context, p *Proc, q *Port, b []byte, count int) error {
	for range count {
		if p.Rank() == 0 {
			if err := q.Send(ctx, 1, b); err != nil {
				return err
			}
		}
		if _, _, err := q.RecvInto(ctx, b); err != nil {
			return err
		}
		if p.Rank() == 1 {
			if err := q.Send(ctx, 0, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// stream sends messages from rank 0 to rank 1.
func stream(ctx context.Context, p *Proc, q *Port, b []byte, count int) error {
	for range count {
		var err error
		if p.Rank() == 0 {
			err = q.Send(ctx, 1, b)
		} else {
			_, _, err = q.RecvInto(ctx, b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// allToAll sends a message from each rank to each other one.
func allToAll(ctx context.Context, p *Proc, q *Port, b []byte, count int) error {
	for range count {
		for k := 1; k < p.Size(); k++ {
			if err := q.Send(ctx, (p.Rank()+k)%p.Size(), b); err != nil {
				return err
			}
		}
		for k := 1; k < p.Size(); k++ {
			if _, err := q.RecvIntoFrom(ctx, (p.Rank()-k+p.Size())%p.Size(), b); err != nil {
				return err
			}
		}
	}
	return nil
}

// remote exposes a region at each rank, and attaches to that of the next.
func remote(ctx context.Context, p *Proc, size int) (*Remote, error) {
	if _, err := p.OpenRegion(ctx, "r", size, nil); err != nil {
		return nil, err
	}
	return p.AttachRegion(ctx, (p.Rank()+1)%p.Size(), "r")
}

func pushes(ctx context.Context, p *Proc, size, count int) error {
	r, err := remote(ctx, p, size)
	for b := make([]byte, size); err == nil && count > 0; count-- {
		err = r.Push(ctx, 0, b)
	}
	return err
}

func pulls(ctx context.Context, p *Proc, size, count int) error {
	r, err := remote(ctx, p, size)
	for b := make([]byte, size); err == nil && count > 0; count-- {
		err = r.Pull(ctx, b, 0)
	}
	return err
}

// tickets lets every rank add to one word of rank 0.
func tickets(ctx context.Context, p *Proc, size, count int) error {
	if p.Rank() == 0 {
		if _, err := p.OpenRegion(ctx, "t", 8, nil); err != nil {
			return err
		}
	}
	r, err := p.AttachRegion(ctx, 0, "t")
	for ; err == nil && count > 0; count-- {
		_, err = r.FetchAdd(ctx, 0, 1)
	}
	return err
}

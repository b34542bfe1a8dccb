package mpi

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSectionsOfSome: members may receive into sections while others do not: the algorithm is the same at all.
func TestSectionsOfSome(t *testing.T) {
	everywhere(t, func(ctx context.Context, c *Comm) error {
		n := c.Size()
		want := make([]int64, n)
		for i := range want {
			want[i] = int64(i * i)
		}
		got := make([]int64, 2*n)
		dst := Of(got[:n])
		if c.Rank()%2 == 1 {
			dst = Part(got, Vector(0, n, 1, 2))
		}
		if err := c.AllGather(ctx, Of(want[c.Rank():][:1]), dst); err != nil {
			return err
		}
		src := make([]int64, n)
		dst.pack(bytesOf(src))
		if !slices.Equal(src, want) {
			return fmt.Errorf("AllGather: %v", got)
		}
		for i := range src {
			src[i] = int64(10*c.Rank() + i)
		}
		if err := c.AllToAll(ctx, Of(src), dst); err != nil {
			return err
		}
		dst.pack(bytesOf(src))
		for i := range src {
			if src[i] != int64(10*i+c.Rank()) {
				return fmt.Errorf("AllToAll: %v", got)
			}
		}
		return nil
	})
}

func bytesOf(s []int64) []byte {
	b := Of(s)
	return b.b
}

// TestProgress: a long message is received while the member for which it is waits in another operation: its sender may
// wait for that before it comes there. The message may have come before the receive.
func TestProgress(t *testing.T) {
	everywhere(t, func(ctx context.Context, c *Comm) error {
		n := c.Size()
		long := make([]byte, 300_000)
		for i, wait := range []func() error{
			func() error { return c.Barrier(ctx) },
			func() error { return c.Barrier(ctx) },
			func() error { return AllReduce(ctx, c, []int{1}, Sum) },
			func() error { return c.Broadcast(ctx, Of([]int{1}), 0) },
		} {
			if c.Rank() > 0 {
				if err := c.Send(ctx, Of(long), 0, 1); err != nil {
					return err
				}
			}
			if c.Rank() == 0 && i%2 == 0 {
				for from := 1; from < n; from++ {
					if _, err := c.Probe(ctx, from, 1); err != nil {
						return err
					}
				}
			}
			var qs []*Request
			if c.Rank() == 0 {
				for from := 1; from < n; from++ {
					q, err := c.StartRecv(Of(make([]byte, len(long))), from, 1)
					if err != nil {
						return err
					}
					qs = append(qs, q)
				}
			}
			if err := wait(); err != nil {
				return err
			}
			if err := WaitAll(ctx, qs...); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestOverlap: collective operations of communicators that overlap, called and begun in an order that the members have
// in common, as MPI asks; what is begun is waited for in any order.
func TestOverlap(t *testing.T) {
	everywhere(t, func(ctx context.Context, c *Comm) error {
		n := c.Size()
		comms := []*Comm{c}
		for _, color := range []int{c.Rank() / 2, c.Rank() % 2, (c.Rank() + 1) / 2 % max(n/2, 1)} {
			d, err := c.Split(ctx, color, -c.Rank())
			if err != nil {
				return err
			}
			comms = append(comms, d)
		}
		common := rand.New(rand.NewPCG(uint64(n), 1))
		own := rand.New(rand.NewPCG(uint64(n), uint64(c.Rank())+2))
		type begun struct {
			q    *Request
			sum  []int64
			want int64
		}
		var all []begun
		for i := range 40 {
			d := comms[common.IntN(len(comms))]
			length := []int{1, 5000}[common.IntN(2)]
			sum := slices.Repeat([]int64{int64(i)}, length)
			want := int64(i * d.Size())
			if common.IntN(2) == 0 {
				if err := AllReduce(ctx, d, sum, Sum); err != nil || sum[length-1] != want {
					return fmt.Errorf("operation %d: %d, not %d: %w", i, sum[length-1], want, err)
				}
				continue
			}
			q, err := StartAllReduce(d, sum, Sum)
			if err != nil {
				return err
			}
			all = append(all, begun{q, sum, want})
			if own.IntN(3) == 0 {
				at := own.IntN(len(all))
				if _, err := all[at].q.Wait(ctx); err != nil {
					return err
				}
			}
		}
		own.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, b := range all {
			if _, err := b.q.Wait(ctx); err != nil || b.sum[len(b.sum)-1] != b.want {
				return fmt.Errorf("begun: %d, not %d: %w", b.sum[len(b.sum)-1], b.want, err)
			}
		}
		for _, d := range comms[1:] {
			if err := d.Free(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

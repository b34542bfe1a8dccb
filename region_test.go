package weft

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"time"
)

// pair opens a port, which it uses as a signal, and a window of size bytes.
func pair(ctx context.Context, p *Proc, size int, cfg *RegionConfig) (*Port, *Region, error) {
	q, err := p.OpenPort(1, nil)
	if err != nil {
		return nil, nil, err
	}
	w, err := p.OpenRegion(ctx, "window", size, cfg)
	return q, w, err
}

// meet returns when all ranks have called it.
func meet(ctx context.Context, p *Proc, q *Port) error {
	for i := range p.Size() {
		if err := q.Send(ctx, i, nil); err != nil {
			return err
		}
	}
	for i := range p.Size() {
		m, err := q.RecvFrom(ctx, i)
		if err != nil {
			return err
		}
		m.Release()
	}
	return nil
}

func pattern(n, seed int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8 + seed)
	}
	return b
}

func TestPushPullPut(t *testing.T) {
	const size = 1 << 18
	everywhere(t, 3, func(ctx context.Context, p *Proc) error {
		q, w, err := pair(ctx, p, size, nil)
		if err != nil {
			return err
		}
		next := (p.Rank() + 1) % p.Size()
		r, err := w.At(ctx, next)
		if err != nil {
			return err
		}
		if r.Rank() != next || r.Size() != size {
			return fmt.Errorf("attached to rank %d, %d bytes", r.Rank(), r.Size())
		}
		for _, c := range []struct{ off, n int }{{0, 0}, {size, 0}, {1, 1}, {3, 100}, {777, 5000}, {0, size}} {
			src := pattern(c.n, p.Rank()+c.off)
			dst := make([]byte, c.n)
			if err := r.Push(ctx, c.off, src); err != nil {
				return fmt.Errorf("push %v: %w", c, err)
			}
			if err := r.Pull(ctx, dst, c.off); err != nil {
				return fmt.Errorf("pull %v: %w", c, err)
			}
			if !bytes.Equal(src, dst) {
				return fmt.Errorf("%v: pulled something else than was pushed", c)
			}
		}
		if err := r.Put(40, []byte("at most thirty-two bytes of data")); err != nil {
			return err
		}
		if err := r.Flush(ctx); err != nil {
			return err
		}
		if err := meet(ctx, p, q); err != nil {
			return err
		}
		if got := w.Bytes()[40:72]; string(got) != "at most thirty-two bytes of data" {
			return fmt.Errorf("put wrote %q", got)
		}
		return nil
	})
}

func TestAtomics(t *testing.T) {
	const each = 200
	everywhere(t, 4, func(ctx context.Context, p *Proc) error {
		q, w, err := pair(ctx, p, 64, nil)
		if err != nil {
			return err
		}
		r, err := w.At(ctx, 0)
		if err != nil {
			return err
		}
		for range each {
			if _, err := r.FetchAdd(ctx, 0, 1); err != nil {
				return err
			}
			for { // the same by compare-and-swap
				old, err := r.CompareSwap(ctx, 8, 0, 0)
				if err != nil {
					return err
				}
				seen, err := r.CompareSwap(ctx, 8, old, old+1)
				if err != nil {
					return err
				}
				if seen == old {
					break
				}
			}
		}
		old, err := r.Swap(ctx, uint64Off(p.Rank()), 7)
		if err != nil || old != 0 {
			return fmt.Errorf("swap: %d, %v", old, err)
		}
		if err := meet(ctx, p, q); err != nil {
			return err
		}
		if p.Rank() == 0 {
			a := w.Load(0)
			b := w.Load(8)
			if a != 4*each || b != 4*each {
				return fmt.Errorf("counted %d and %d, not %d", a, b, 4*each)
			}
			for i := range 4 {
				if v := w.Load(uint64Off(i)); v != 7 {
					return fmt.Errorf("swap left %d", v)
				}
			}
		}
		return nil
	})
}

func uint64Off(rank int) int { return 16 + 8*rank }

func TestStartedOperations(t *testing.T) {
	everywhere(t, 2, func(ctx context.Context, p *Proc) error {
		_, w, err := pair(ctx, p, 1<<16, nil)
		if err != nil {
			return err
		}
		r, err := w.At(ctx, 1-p.Rank())
		if err != nil {
			return err
		}
		const n = 300 // more than may be outstanding
		var ops []*Op
		for i := range n {
			op, err := r.StartPush(i*100, pattern(100, i))
			if err != nil {
				return err
			}
			ops = append(ops, op)
		}
		for i, op := range ops {
			if err := op.Wait(ctx); err != nil || !op.Done() {
				return fmt.Errorf("push %d: %v", i, err)
			}
			op.Free()
		}
		got := make([]byte, n*100)
		pull, err := r.StartPull(got, 0)
		if err != nil {
			return err
		}
		add, err := r.StartFetchAdd(1<<16-8, 5)
		if err != nil {
			return err
		}
		swap, err := r.StartSwap(1<<16-8, 9)
		if err != nil {
			return err
		}
		compare, err := r.StartCompareSwap(1<<16-8, 9, 11)
		if err != nil {
			return err
		}
		for _, c := range []struct {
			op   *Op
			want uint64
		}{{pull, 0}, {add, 0}, {swap, 5}, {compare, 9}} {
			if err := c.op.Wait(ctx); err != nil || c.op.Value() != c.want {
				return fmt.Errorf("value %d, not %d: %v", c.op.Value(), c.want, err)
			}
		}
		for i := range n {
			if !bytes.Equal(got[i*100:][:100], pattern(100, i)) {
				return fmt.Errorf("push %d went elsewhere", i)
			}
		}
		return usedAgain(ctx, r)
	})
}

// usedAgain starts and ends operations whose memory others have had: they find nothing of those.
func usedAgain(ctx context.Context, r *Remote) (err error) {
	again := make([]*Op, 0, 20)
	for i := range cap(again) {
		var op *Op
		if i < cap(again)/2 {
			op, err = r.StartFetchAdd(1<<16-8, 0)
		} else {
			op, err = r.StartPull(make([]byte, 8), 0)
		}
		if err != nil {
			return err
		}
		if again = append(again, op); len(again) != cap(again)/2 {
			continue
		}
		for _, op := range again {
			op.Wait(ctx)
		}
	}
	for _, op := range again[cap(again)/2:] {
		if err := op.Wait(ctx); err != nil || op.Value() != 0 {
			return fmt.Errorf("a pull's value is %d: %v", op.Value(), err)
		}
	}
	return nil
}

// A message sent after a push never arrives before its data.
func TestMessageAfterPush(t *testing.T) {
	const rounds = 200
	networks(t, 2, func(ctx context.Context, p *Proc) error {
		q, w, err := pair(ctx, p, 1<<16, nil)
		if err != nil {
			return err
		}
		r, err := w.At(ctx, 1-p.Rank())
		if err != nil {
			return err
		}
		for i := 1; i <= rounds; i++ {
			n := []int{8, 24, 1000, 1 << 16}[i%4]
			if p.Rank() == 0 {
				var op *Op
				if n <= MaxPut {
					err = r.Put(0, bytes.Repeat([]byte{byte(i)}, n))
				} else { // the message is sent before the push has been answered
					op, err = r.StartPush(0, bytes.Repeat([]byte{byte(i)}, n))
				}
				if err == nil {
					err = q.Send(ctx, 1, nil)
				}
				if err == nil && op != nil {
					err = op.Wait(ctx)
				}
				if err != nil {
					return err
				}
			}
			m, err := q.Recv(ctx)
			if err != nil {
				return err
			}
			m.Release()
			if p.Rank() == 0 {
				continue
			}
			for j, b := range w.Bytes()[:n] {
				if b != byte(i) {
					return fmt.Errorf("round %d: byte %d of %d is %d", i, j, n, b)
				}
			}
			if err := q.Send(ctx, 0, nil); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestAwait(t *testing.T) {
	everywhere(t, 2, func(ctx context.Context, p *Proc) error {
		_, w, err := pair(ctx, p, 16, nil)
		if err != nil {
			return err
		}
		r, err := w.At(ctx, 1-p.Rank())
		if err != nil {
			return err
		}
		var word [8]byte
		for i := uint64(1); i < 100; i++ {
			binary.LittleEndian.PutUint64(word[:], i)
			if p.Rank() == 0 {
				if err := r.Put(8, word[:]); err != nil {
					return err
				}
			}
			if v, err := w.Await(ctx, 8, i-1); err != nil || v != i {
				return fmt.Errorf("awaited %d: %d, %v", i, v, err)
			}
			if p.Rank() == 1 {
				if err := r.Put(8, word[:]); err != nil {
					return err
				}
			}
		}
		soon, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
		defer cancel()
		if _, err := w.Await(soon, 0, 0); !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("nothing came: %v", err)
		}
		if _, err := w.Await(ctx, 12, 0); !errors.Is(err, ErrMisaligned) {
			return fmt.Errorf("offset 12: %v", err)
		}
		return p.Barrier("both have seen that nothing comes", nil).Wait(ctx) // a rank that returns ends the other's wait
	})
}

func TestAttachWaits(t *testing.T) {
	networks(t, 2, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		if p.Rank() == 1 {
			soon, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
			defer cancel()
			if _, err := p.AttachRegion(soon, 0, "late"); !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("nobody exposes it: %v", err)
			}
			if err := q.Send(ctx, 0, nil); err != nil {
				return err
			}
			r, err := p.AttachRegion(ctx, 0, "late")
			if err != nil {
				return err
			}
			return r.Push(ctx, 0, []byte("a word, ")) // in one piece
		}
		m, err := q.Recv(ctx)
		if err != nil {
			return err
		}
		m.Release()
		w, err := p.OpenRegion(ctx, "late", 8, nil)
		if err != nil {
			return err
		}
		_, err = w.Await(ctx, 0, 0)
		return err
	})
}

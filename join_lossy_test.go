package weft

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"weft/internal/transport"
	"weft/internal/transport/faulty"
)

// faultyJob returns ranks whose UDP loses a fifth of the packets, repeats a
// fifth, and lets a fifth be overtaken.
func faultyJob(t *testing.T, n int) ([]*Proc, *[]*faulty.Transport) {
	var all []*faulty.Transport
	// On a machine that has much else to do, timers go off late and peers fall
	// silent: that is not what is tested.
	cfg := Config{Transport: "udp", Liveness: time.Minute, RetransmitMax: 50 * time.Millisecond}
	cfg.faults = func(u transport.Transport, ring func()) transport.Transport {
		f := faulty.New(u, faulty.Faults{Lose: 0.2, Repeat: 0.2, Reorder: 0.2, Damage: 0.02}, uint64(len(all)), ring)
		all = append(all, f)
		return f
	}
	procs := joinAll(t, n, &cfg)
	return procs, &all
}

// Whatever the network does, every message arrives once and in order, and
// remote memory holds what was written.
func TestFaultyNetwork(t *testing.T) {
	const each = 60
	procs, faults := faultyJob(t, 3)
	sizes := []int{0, 8, 900, 3000, 40000}
	err := runAll(within(t), procs, func(ctx context.Context, p *Proc) error {
		q, w, err := pair(ctx, p, 1<<16, nil)
		if err != nil {
			return err
		}
		sending := make(chan error, 1)
		go func() {
			for i := range each {
				for to := range p.Size() {
					if err := q.Send(ctx, to, pattern(sizes[i%len(sizes)], i)); err != nil {
						sending <- err
						return
					}
				}
			}
			sending <- nil
		}()
		next := make([]int, p.Size())
		for range each * p.Size() {
			m, err := q.Recv(ctx)
			if err != nil {
				return err
			}
			i := next[m.From]
			next[m.From]++
			if !bytes.Equal(m.Data, pattern(sizes[i%len(sizes)], i)) {
				return fmt.Errorf("message %d of rank %d: %d bytes, not what was sent", i, m.From, len(m.Data))
			}
			m.Release()
		}
		if err := <-sending; err != nil {
			return err
		}
		r, err := w.At(ctx, (p.Rank()+1)%p.Size())
		if err != nil {
			return err
		}
		src := pattern(1<<16, p.Rank())
		dst := make([]byte, 1<<16)
		if err := r.Push(ctx, 0, src); err != nil {
			return err
		}
		if err := r.Pull(ctx, dst, 0); err != nil {
			return err
		}
		if !bytes.Equal(src, dst) {
			return fmt.Errorf("pulled something else than was pushed")
		}
		for i := range uint64(50) { // done once each, however often they are sent
			if old, err := r.FetchAdd(ctx, 0, 1<<56); err != nil || i > 0 && old>>56 != (first(src)>>56+i)&0xff {
				return fmt.Errorf("add %d found %#x: %v", i, old, err)
			}
		}
		return p.Barrier("done", nil).Wait(ctx) // a message more could be taken for one that is on its way
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range procs {
		s := p.Stats()
		if lost := (*faults)[i].Lost(); lost == 0 || s.Retransmitted == 0 || s.Forged == 0 {
			t.Errorf("rank %d: %d lost, %+v: the network is not faulty", i, lost, s)
		}
	}
}

func first(b []byte) (v uint64) {
	for i := range 8 {
		v |= uint64(b[i]) << (8 * i)
	}
	return v
}

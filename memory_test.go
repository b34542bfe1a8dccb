package weft

import (
	"bytes"
	"context"
	"fmt"
	"testing"
)

// Long messages arrive from Alloc memory, from parts of it, and from ordinary
// memory.
func TestAlloc(t *testing.T) {
	everywhere(t, 2, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		const n = 200000
		if p.Rank() == 1 {
			into := make([]byte, n)
			for i := range 6 {
				got, _, err := q.RecvInto(ctx, into)
				if err != nil || !bytes.Equal(into[:got], pattern(got, i)) {
					return fmt.Errorf("message %d of %d bytes: %v", i, got, err)
				}
			}
			return nil
		}
		whole, err := p.Alloc(n)
		if err != nil || len(whole) != n || !bytes.Equal(whole, make([]byte, n)) {
			return fmt.Errorf("%d bytes, %v", len(whole), err)
		}
		other, err := p.Alloc(1)
		if err != nil {
			return err
		}
		for i, b := range [][]byte{whole, whole[1000:150000], make([]byte, n), whole[n-40000:], whole[:33000], other} {
			copy(b, pattern(len(b), i))
			if err := q.Send(ctx, 1, b); err != nil {
				return err
			}
		}
		if err := p.Free(whole[8:]); err == nil {
			return fmt.Errorf("freed a part")
		}
		if err := p.Free(whole); err != nil {
			return err
		}
		if err := p.Free(make([]byte, 10)); err == nil {
			return fmt.Errorf("freed what is not from Alloc")
		}
		if _, err := p.Alloc(-1); err == nil {
			return fmt.Errorf("allocated -1 bytes")
		}
		return p.Free(other)
	})
}

// Drafts that are discarded leave no gap and no memory behind.
func TestDiscard(t *testing.T) {
	networks(t, 2, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		if p.Rank() == 0 {
			for i := range 2000 { // far more than the buffer holds
				d, err := q.Reserve(ctx, 1, 3000)
				if err != nil {
					return err
				}
				if i%100 != 0 {
					d.Discard()
					continue
				}
				copy(d.Data, pattern(3000, i))
				if err := d.Commit(ctx); err != nil {
					return err
				}
			}
			d, err := q.Reserve(ctx, 1, 100000) // a long one
			if err != nil {
				return err
			}
			copy(d.Data, pattern(100000, 1))
			return d.Commit(ctx)
		}
		for i := 0; i < 2000; i += 100 {
			m, err := q.Recv(ctx)
			if err != nil || !bytes.Equal(m.Data, pattern(3000, i)) {
				return fmt.Errorf("message %d: %d bytes, %v", i, len(m.Data), err)
			}
			m.Release()
		}
		m, err := q.Recv(ctx)
		if err != nil || !bytes.Equal(m.Data, pattern(100000, 1)) {
			return fmt.Errorf("the long one: %d bytes, %v", len(m.Data), err)
		}
		m.Release()
		return nil
	})
}

func TestPeers(t *testing.T) {
	real(t, 3, func(ctx context.Context, p *Proc) error {
		q, w, err := pair(ctx, p, 64, nil)
		if err != nil {
			return err
		}
		if p.Rank() == 2 { // speaks to nobody
			m, err := q.Recv(ctx)
			if err == nil {
				m.Release()
			}
			return err
		}
		r, err := w.At(ctx, 1-p.Rank())
		if err != nil {
			return err
		}
		peer, err := p.Connect(ctx, 1-p.Rank())
		if err != nil {
			return err
		}
		direct := peer.Transport == "shm" || peer.Transport == "pipe" && p.member.Transports[0].Caps().Direct
		if r.Direct() != direct {
			return fmt.Errorf("over %s, direct is %v", peer.Transport, r.Direct())
		}
		peers := p.Peers()
		if len(peers) != 2 || peers[0].Rank != 0 || peers[1].Rank != 1 || peers[p.Rank()].Transport != "self" {
			return fmt.Errorf("peers: %+v", peers)
		}
		here := peer.Host == p.Host() || peer.Host == ""
		if peer.MTU < 128 || here != (p.job.Local > 1) || peer.Gone != nil {
			return fmt.Errorf("peer: %+v", peer)
		}
		if _, err := p.Connect(ctx, 3); err == nil {
			return fmt.Errorf("connected to rank 3 of 3")
		}
		if err := meetPair(ctx, q, 1-p.Rank()); err != nil || p.Rank() == 1 {
			return err
		}
		return q.Send(ctx, 2, nil)
	})
}

// meetPair returns when both ranks of a pair have called it.
func meetPair(ctx context.Context, q *Port, peer int) error {
	if err := q.Send(ctx, peer, nil); err != nil {
		return err
	}
	m, err := q.RecvFrom(ctx, peer)
	if err == nil {
		m.Release()
	}
	return err
}

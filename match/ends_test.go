package match_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"weft"
	"weft/internal/waittest"
	"weft/match"
)

// Four ranks send each other everything at once. Each receives by source and tag in
// an order of its own, and the rest from any: in order, and nothing is missing.
func TestFourRanks(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), waittest.Patience)
	defer cancel()
	if err := weft.Local(ctx, 4, fourRanks); err != nil {
		t.Fatal(err)
	}
}

// fourRanks is what each rank of TestFourRanks does: it receives from all, in orders of its own.
func fourRanks(ctx context.Context, p *weft.Proc) error {
	const (
		ranks = 4
		tags  = 3
		each  = 40
	)
	box, err := p.OpenMailbox("in", &weft.MailboxConfig{Rings: []int{8 << 10, 8 << 10},
		Table: map[int]int{p.Rank() ^ 1: 1}})
	if err != nil {
		return err
	}
	defer box.Close()
	m := match.New(p, box, &match.Config{Copy: true})
	sent := make(chan error)
	go func() { sent <- sendToAll(ctx, p, ranks, tags, each) }()
	receive := func(source int, tag, mask uint64) (weft.Delivery, error) {
		d, err := m.Recv(ctx, source, tag, mask)
		if err == nil && (binary.LittleEndian.Uint64(d.Data) != d.Tag&(1<<32-1) || source != match.Any &&
			d.From != source || (d.Tag^tag)&mask != 0) {
			err = fmt.Errorf("from %d, tag %#x: asked for %d, %#x", d.From, d.Tag, source, tag)
		}
		return d, err
	}
	const kind = match.Exact &^ (1<<32 - 1) // the upper half of the tag
	rnd := rand.New(rand.NewPCG(uint64(p.Rank()), 4))
	for _, source := range rnd.Perm(ranks) {
		for _, n := range rnd.Perm(each) { // each by its whole tag
			d, err := receive(source, 2<<32|uint64(n), match.Exact)
			if err != nil {
				return err
			}
			d.Release()
		}
		for n := range uint64(each) { // in the order in which they were sent
			d, err := receive(source, 1<<32, kind)
			if err == nil && d.Tag != 1<<32|n {
				err = fmt.Errorf("from %d: %#x overtook %#x", source, d.Tag, n)
			}
			if err != nil {
				return err
			}
			d.Release()
		}
	}
	var next [ranks]uint64
	for range ranks * each {
		d, err := receive(match.Any, 0, kind)
		if err == nil && d.Tag != next[d.From] {
			err = fmt.Errorf("from %d: %#x overtook %#x", d.From, d.Tag, next[d.From])
		}
		if err != nil {
			return err
		}
		next[d.From]++
		d.Release()
	}
	if err := <-sent; err != nil {
		return err
	}
	if s := m.Stats(); s.Unexpected.Len+s.Posted.Len+s.InRing != 0 {
		return fmt.Errorf("left over: %+v", s)
	}
	return p.Barrier("received", nil).Wait(ctx)
}

// sendToAll sends each messages with each tag to all ranks. The lower half of a tag numbers the messages.
func sendToAll(ctx context.Context, p *weft.Proc, ranks, tags, each int) error {
	to := make([]*weft.Sender, ranks)
	for rank := range to {
		var err error
		if to[rank], err = p.AttachMailbox(ctx, rank, "in"); err != nil {
			return err
		}
	}
	for n := range uint64(each) {
		for rank := range to {
			for tag := range uint64(tags) {
				b := make([]byte, 8+(n*37+tag)%300)
				binary.LittleEndian.PutUint64(b, n)
				if err := to[rank].PushTagged(ctx, tag<<32|n, b); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Ranks that leave in good order have not died, but when nobody is left receives from
// all of them end.
func TestAllLeave(t *testing.T) {
	const ranks = 4
	ctx, cancel := context.WithTimeout(context.Background(), waittest.Patience)
	defer cancel()
	err := weft.Local(ctx, ranks, func(ctx context.Context, p *weft.Proc) error {
		if p.Rank() > 0 {
			s, err := p.AttachMailbox(ctx, 0, "in")
			if err == nil {
				err = s.PushTagged(ctx, 7, []byte("so long"))
			}
			return errors.Join(err, p.Close())
		}
		box, err := p.OpenMailbox("in", nil)
		if err != nil {
			return err
		}
		defer box.Close()
		m := match.New(p, box, nil)
		left := func(from int, err error) error {
			var gone *weft.PeerError
			if !errors.As(err, &gone) || !gone.Clean || from != match.Any && gone.Rank != from {
				return fmt.Errorf("from %d: %w", from, err)
			}
			return nil
		}
		started, err := m.Start(1, 8, match.Exact)
		if err != nil {
			return err
		}
		_, err = m.Recv(ctx, match.Any, 8, match.Exact)
		if err := left(match.Any, err); err != nil {
			return err
		}
		_, err = started.Wait(ctx)
		if err := left(1, err); err != nil {
			return err
		}
		for from := 1; from < ranks; from++ {
			d, err := m.Recv(ctx, from, 7, match.Exact)
			if err != nil {
				return err
			}
			d.Release()
			_, err = m.Recv(ctx, from, 7, match.Exact)
			if err := left(from, err); err != nil {
				return err
			}
		}
		if _, err := m.TryRecv(0, 7, match.Exact); err != weft.ErrWouldBlock {
			return fmt.Errorf("from itself: %w", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

package weft_test

import (
	"context"
	"encoding/binary"
	"fmt"

	"weft"
)

// Rank 0 receives from whichever rank sends first, and answers. A received message lies in
// the port's receive buffer until it is released.
func ExamplePort() {
	err := weft.Local(context.Background(), 3, func(ctx context.Context, p *weft.Proc) error {
		port, err := p.OpenPort(7, nil)
		if err != nil {
			return err
		}
		defer port.Close()
		if p.Rank() > 0 {
			if err := port.Send(ctx, 0, []byte{byte(p.Rank())}); err != nil {
				return err
			}
			answer := make([]byte, 16)
			n, err := port.RecvIntoFrom(ctx, 0, answer)
			if err == nil && p.Rank() == 2 {
				fmt.Printf("%s\n", answer[:n])
			}
			return err
		}
		sum := 0
		for range p.Size() - 1 {
			m, err := port.Recv(ctx)
			if err != nil {
				return err
			}
			sum += int(m.Data[0])
			m.Release()
		}
		for rank := 1; rank < p.Size(); rank++ {
			if err := port.Send(ctx, rank, fmt.Appendf(nil, "the sum is %d", sum)); err != nil {
				return err
			}
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// the sum is 3
	// <nil>
}

// A message can be written where it is sent from, which saves a copy.
func ExamplePort_Reserve() {
	err := weft.Local(context.Background(), 2, func(ctx context.Context, p *weft.Proc) error {
		port, err := p.OpenPort(7, nil)
		if err != nil {
			return err
		}
		if p.Rank() == 0 {
			draft, err := port.Reserve(ctx, 1, 8)
			if err != nil {
				return err
			}
			binary.LittleEndian.PutUint64(draft.Data, 42)
			return draft.Commit(ctx)
		}
		m, err := port.Recv(ctx)
		if err != nil {
			return err
		}
		defer m.Release()
		fmt.Println(binary.LittleEndian.Uint64(m.Data))
		return nil
	})
	fmt.Println(err)
	// Output:
	// 42
	// <nil>
}

// All ranks write into a region of rank 0 and count in it. Rank 0 does nothing for that: it
// only waits for the last count.
func ExampleRemote() {
	err := weft.Local(context.Background(), 4, func(ctx context.Context, p *weft.Proc) error {
		const count = 0 // offset of the counter; behind it each rank has a word
		if p.Rank() > 0 {
			board, err := p.AttachRegion(ctx, 0, "board") // waits until rank 0 has opened it
			if err != nil {
				return err
			}
			square := binary.LittleEndian.AppendUint64(nil, uint64(p.Rank()*p.Rank()))
			if err := board.Push(ctx, 8*p.Rank(), square); err != nil {
				return err
			}
			_, err = board.FetchAdd(ctx, count, 1) // after the Push: its effect is seen later
			return err
		}
		board, err := p.OpenRegion(ctx, "board", 8*p.Size(), nil)
		if err != nil {
			return err
		}
		for seen := uint64(0); seen < uint64(p.Size()-1); {
			if seen, err = board.Await(ctx, count, seen); err != nil {
				return err
			}
		}
		fmt.Println(board.Load(8), board.Load(16), board.Load(24))
		return nil
	})
	fmt.Println(err)
	// Output:
	// 1 4 9
	// <nil>
}

// Ranks 1 and 2 have a ring of their own in the mailbox of rank 0; rank 3 uses ring 0, which
// all other ranks share. Messages come in the order in which they arrive, and each is released
// when the program has done with it.
func ExampleMailbox() {
	err := weft.Local(context.Background(), 4, func(ctx context.Context, p *weft.Proc) error {
		if p.Rank() > 0 {
			out, err := p.AttachMailbox(ctx, 0, "results") // waits until rank 0 has opened it
			if err != nil {
				return err
			}
			return out.PushTagged(ctx, uint64(p.Rank()), make([]byte, 100*p.Rank()))
		}
		in, err := p.OpenMailbox("results", &weft.MailboxConfig{
			Rings: []int{64 << 10, 16 << 10, 16 << 10},
			Table: map[int]int{1: 1, 2: 2},
		})
		if err != nil {
			return err
		}
		defer in.Close()
		length := map[uint64]int{}
		for range p.Size() - 1 {
			d, err := in.Next(ctx)
			if err != nil {
				return err
			}
			length[d.Tag] = len(d.Data)
			d.Release()
		}
		fmt.Println(length)
		return nil
	})
	fmt.Println(err)
	// Output:
	// map[1:100 2:200 3:300]
	// <nil>
}

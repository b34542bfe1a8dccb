// Command farm counts primes: rank 0 hands out ranges of numbers, and the other ranks count the
// primes in them. The program survives the death of any rank but rank 0: the ranges that a dead
// rank had not answered are given to other ranks. The test beside it kills ranks, and is a model
// for tests of other programs.
//
//	weft run -n 4 -survive ./examples/farm
package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"weft"
)

func main() { weft.Main(run) }

const (
	tasks = 200
	span  = 5_000 // numbers of a task
)

func run(ctx context.Context, p *weft.Proc) error {
	port, err := p.OpenPort(1, nil)
	if err != nil {
		return err
	}
	defer port.Close()
	if p.Rank() > 0 {
		return work(ctx, p, port)
	}
	count, err := handOut(ctx, p, port)
	if err == nil {
		fmt.Printf("%d primes below %d\n", count, tasks*span)
	}
	return err
}

// handOut gives each rank one task after the other, and adds up the answers.
func handOut(ctx context.Context, p *weft.Proc, port *weft.Port) (sum uint64, err error) {
	todo := make(chan uint32, tasks) // room for all, so that one can always be put back
	for i := range uint32(tasks) {
		todo <- i
	}
	var mu sync.Mutex
	left := tasks
	answered := func(n uint64) {
		mu.Lock()
		defer mu.Unlock()
		sum += n
		if left--; left == 0 {
			close(todo)
		}
	}
	var ranks sync.WaitGroup
	failures := make([]error, p.Size())
	for rank := 1; rank < p.Size(); rank++ {
		ranks.Go(func() {
			for task := range todo {
				n, err := ask(ctx, port, rank, task)
				if err != nil {
					todo <- task
					failures[rank] = err
					return
				}
				answered(n)
			}
			failures[rank] = port.Send(ctx, rank, nil) // that was all
		})
	}
	ranks.Wait()
	for _, err := range failures {
		var gone *weft.PeerError
		if errors.As(err, &gone) {
			fmt.Printf("went on without rank %d\n", gone.Rank)
		}
	}
	if left > 0 {
		return 0, fmt.Errorf("%d tasks are not done: %w", left, errors.Join(failures...))
	}
	return sum, nil
}

// ask gives a rank a task, and returns its answer.
func ask(ctx context.Context, port *weft.Port, rank int, task uint32) (n uint64, err error) {
	if err := port.Send(ctx, rank, binary.LittleEndian.AppendUint32(nil, task)); err != nil {
		return 0, err
	}
	m, err := port.RecvFrom(ctx, rank)
	if err != nil {
		return 0, err
	}
	defer m.Release()
	return binary.LittleEndian.Uint64(m.Data), nil
}

// work answers tasks until an empty message says that there are no more.
func work(ctx context.Context, p *weft.Proc, port *weft.Port) error {
	for {
		m, err := port.RecvFrom(ctx, 0)
		if err != nil {
			return err
		}
		if len(m.Data) == 0 {
			m.Release()
			return nil
		}
		task := binary.LittleEndian.Uint32(m.Data)
		m.Release()
		fmt.Printf("rank %d has task %d\n", p.Rank(), task)
		if err := port.Send(ctx, 0, binary.LittleEndian.AppendUint64(nil, primes(task*span, (task+1)*span))); err != nil {
			return err
		}
	}
}

// primes counts the primes from one number to before another.
func primes(from, to uint32) (n uint64) {
	for i := max(from, 2); i < to; i++ {
		prime := true
		for d := uint32(2); prime && d*d <= i; d++ {
			prime = i%d != 0
		}
		if prime {
			n++
		}
	}
	return n
}

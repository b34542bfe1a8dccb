// Package tally is the program of steps 3 to 5 of docs/TUTORIAL.md: the ranks of a job
// do the tasks of a list, one after the other, and add up the results.
package tally

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"weft"
)

// Tasks is how many tasks there are. They are numbered from 0.
const Tasks = 12

// A Tally is a record of 16 bytes in the memory of rank 0: how many tasks are done, and the
// sum of their results. The lock "pen" guards it.
type Tally struct {
	p      *weft.Proc
	record *weft.Remote
	pen    *weft.Lock
}

// Open returns the tally of the job. Rank 0 makes its memory.
func Open(ctx context.Context, p *weft.Proc) (*Tally, error) {
	if p.Rank() == 0 {
		if _, err := p.OpenRegion(ctx, "tally", 16, &weft.RegionConfig{Lock: "pen"}); err != nil {
			return nil, err
		}
	}
	record, err := p.AttachRegion(ctx, 0, "tally")
	if err != nil {
		return nil, err
	}
	return &Tally{p: p, record: record, pen: p.Lock("pen", nil)}, nil
}

// Run does tasks until all are done. Rank 0 then writes the sum to out.
func (t *Tally) Run(ctx context.Context, out io.Writer, do func(task uint64) uint64) error {
	for {
		grant, err := t.pen.Lock(ctx)
		if err != nil {
			return err
		}
		if grant.HolderDied {
			fmt.Fprintf(out, "rank %d has the pen of a rank that died\n", t.p.Rank())
		}
		done, sum, err := add(ctx, t.record.Under(grant), do)
		if err != nil {
			return err
		}
		if err := t.pen.Unlock(); err != nil {
			return err
		}
		if done == Tasks {
			if t.p.Rank() == 0 {
				fmt.Fprintf(out, "%d tasks are done, the sum is %d\n", done, sum)
			}
			return nil
		}
	}
}

// add does the next task, unless all are done, and changes the record.
func add(ctx context.Context, record *weft.Remote, do func(task uint64) uint64) (done, sum uint64, err error) {
	b := make([]byte, 16)
	if err := record.Pull(ctx, b, 0); err != nil {
		return 0, 0, err
	}
	done = binary.LittleEndian.Uint64(b)
	sum = binary.LittleEndian.Uint64(b[8:])
	if done == Tasks {
		return done, sum, nil
	}
	sum += do(done)
	done++
	binary.LittleEndian.PutUint64(b, done)
	binary.LittleEndian.PutUint64(b[8:], sum)
	return done, sum, record.Push(ctx, 0, b)
}

// Square is a task that takes no time.
func Square(task uint64) uint64 { return task * task }

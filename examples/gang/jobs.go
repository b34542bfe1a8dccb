package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"weft"
	"weft/job"
	"weft/mpi"
	"weft/pm"
)

// With -jobs the two programs are two jobs of processes of their own, on the same nodes. A scheduler, which is this
// process, gives them turns: it has all processes of one job freeze their contexts, so that nothing of the job is in
// the network, and stops them; then it lets those of the other job run on.

// The signals of the scheduler.
const (
	freeze = syscall.SIGUSR1
	thaw   = syscall.SIGUSR2
)

// atEnd is how the last line of a rank ends.
const atEnd = " in order\n"

// programs are those that the scheduler starts.
var programs = map[string]func(context.Context, *weft.Proc) error{"shared": shared}

// A turns is one of two jobs that share the nodes.
type turns struct {
	*job.Job
	ranks int
	told  int // how often it was frozen
	over  bool
}

// schedule starts two jobs of n processes each, and gives them turns until both have ended.
func schedule(ctx context.Context, out io.Writer, n, steps int, slice time.Duration, transport weft.Transport) error {
	var jobs [2]*turns
	for i := range jobs {
		j, err := job.Start(ctx, job.Config{
			Ranks: n, Run: "shared", Args: []string{fmt.Sprint(i), fmt.Sprint(steps)}, Transport: transport,
		})
		if err != nil {
			return err
		}
		defer j.Close()
		jobs[i] = &turns{Job: j, ranks: n}
		if err := jobs[i].pause(ctx); err != nil {
			return err
		}
	}
	switches := 0
	var took time.Duration
	for now := 0; !jobs[0].over || !jobs[1].over; now = 1 - now {
		j := jobs[now]
		if j.over {
			continue
		}
		if err := j.resume(ctx); err != nil {
			return err
		}
		if err := j.run(ctx, slice); err != nil {
			return err
		}
		began := time.Now()
		if err := j.pause(ctx); err != nil {
			return err
		}
		took += time.Since(began)
		switches++
	}
	for i, j := range jobs {
		if err := j.Wait(ctx); err != nil {
			return err
		}
		for rank := range n {
			fmt.Fprintf(out, "job %d, rank %d: %s", i, rank, lastLine(j.Output(rank)))
		}
	}
	_, err := fmt.Fprintf(out, "%d turns of two jobs of %d processes; to freeze and stop one took %v on average\n",
		switches, n, took/time.Duration(max(switches, 1)))
	return err
}

// lastLine returns the last line of a text.
func lastLine(text string) string {
	last := len(text) - 1
	for at := last - 1; at >= 0; at-- {
		if text[at] == '\n' {
			return text[at+1:]
		}
	}
	return text
}

// run lets the job have its turn, which ends early if all its ranks have ended.
func (j *turns) run(ctx context.Context, slice time.Duration) error {
	turn, end := context.WithTimeout(ctx, slice)
	defer end()
	for rank := range j.ranks {
		if _, err := j.Exit(turn, rank); err != nil {
			return ctx.Err() // the turn is over, or this process is to end
		}
	}
	return nil
}

// pause freezes the contexts of the job, and stops its processes.
func (j *turns) pause(ctx context.Context) error {
	j.told++
	for rank := range j.ranks {
		if j.told > 1 { // the first time they freeze of their own accord
			j.Signal(rank, freeze)
		}
	}
	for rank := range j.ranks {
		err := j.awaitFrozen(ctx, rank)
		if err != nil && strings.Contains(j.Output(rank), atEnd) {
			j.over = true // all have what they wait for, and end
			for rank := range j.ranks {
				j.Signal(rank, thaw)
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
	for rank := range j.ranks {
		j.Stop(rank)
	}
	return nil
}

// awaitFrozen waits until a rank is frozen, or fails as soon as it has written its last line: it does not freeze any
// more, and waits for the others.
func (j *turns) awaitFrozen(ctx context.Context, rank int) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	go func() {
		if j.Await(ctx, rank, atEnd) == nil {
			end()
		}
	}()
	return j.Await(ctx, rank, fmt.Sprintf("frozen %d.", j.told))
}

// resume lets the processes of the job run, and thaws their contexts.
func (j *turns) resume(ctx context.Context) error {
	for rank := range j.ranks {
		j.Continue(rank)
	}
	for rank := range j.ranks {
		j.Signal(rank, thaw)
	}
	for rank := range j.ranks {
		if err := j.Await(ctx, rank, fmt.Sprintf("thawed %d.", j.told)); err != nil {
			return err
		}
	}
	return nil
}

// shared is a rank of a job that shares its nodes with another one: it takes steps, and does what the scheduler tells
// it.
func shared(ctx context.Context, p *weft.Proc) error {
	var number, steps int
	if _, err := fmt.Sscan(os.Args[1]+" "+os.Args[2], &number, &steps); err != nil {
		return err
	}
	orders := make(chan os.Signal, 4)
	signal.Notify(orders, freeze, thaw)
	x, err := pm.Open(ctx, p, 1, &pm.Config{SendBuffer: 64 << 10, RecvBuffer: 64 << 10})
	if err != nil {
		return err
	}
	defer x.Close()
	world := mpi.World(p)
	if err := world.Barrier(ctx); err != nil { // all can answer a fence
		return err
	}
	g := newProgram(number, x)
	var due, ended atomic.Int64
	due.Store(-1)
	orders <- freeze // the scheduler says which job begins
	for told := 1; ended.Load() == 0; {
		select {
		case o := <-orders:
			if o != freeze {
				break
			}
			if err := pausedBy(ctx, x, orders, told); err != nil && ended.Load() == 0 {
				return err
			}
			told++
		default:
		}
		if err := g.step(); err != nil {
			return err
		}
		switch {
		case g.steps == steps:
			g.ending = true
			p.Go(func() { due.Store(expect(ctx, world, g.next)) })
		case g.received == due.Load():
			due.Store(-1)
			p.Go(func() {
				_ = world.Barrier(ctx)
				ended.Store(1)
			})
		}
	}
	fmt.Printf("%d messages sent, %d received%s", g.sent, g.received, atEnd)
	return nil
}

// expect returns how many messages the ranks have sent to this one.
func expect(ctx context.Context, world *mpi.Comm, sent []uint64) int64 {
	n := world.Size()
	all := make([]int64, n*n)
	for to, count := range sent {
		all[to*n+world.Rank()] = int64(count)
	}
	if err := mpi.AllReduce(ctx, world, all, mpi.Sum[int64]); err != nil {
		return -1
	}
	sum := int64(0)
	for _, count := range all[world.Rank()*n:][:n] {
		sum += count
	}
	return sum
}

// pausedBy freezes the context, and thaws it when the scheduler says so.
func pausedBy(ctx context.Context, x *pm.Context, orders <-chan os.Signal, told int) error {
	if err := x.Freeze(ctx); err != nil {
		return err
	}
	fmt.Printf("frozen %d.\n", told)
	for o := range orders {
		if o == thaw {
			break
		}
	}
	err := x.Thaw()
	fmt.Printf("thawed %d.\n", told)
	return err
}

// Gang lets two programs take turns on the same nodes and the same PM channel, as SCore-D's gang
// scheduler does. At the end of each time slice all nodes freeze the channel, flush it, save the
// content of its buffers, and restore that of the other program. Every message is checked. At every
// switch the number of messages in the saved buffers must equal the number of messages that have
// been sent and not received.
//
//	weft run -n 4 ./examples/gang
//	weft run -n 4 -transport udp ./examples/gang -slice 5ms
//	weft sim -n 4 -loss 0.01 ./examples/gang -slice 200us
//	gang -jobs 4              two jobs of 4 processes each take turns
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"weft"
	"weft/job"
	"weft/mpi"
	"weft/pm"
)

func main() {
	job.Main(programs)
	jobs := flag.Int("jobs", 0, "let two jobs of so many processes take turns, rather than two programs of one job")
	switches := flag.Int("switches", 200, "how often the programs change places before they end")
	slice := flag.Duration("slice", 2*time.Millisecond, "how long a program runs")
	buffer := flag.Int("buffer", 256<<10, "bytes of the send and of the receive buffer")
	flag.Parse()
	if *jobs > 0 {
		if err := schedule(context.Background(), os.Stdout, *jobs, 10_000, *slice, ""); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	weft.Main(func(ctx context.Context, p *weft.Proc) error {
		return run(ctx, p, os.Stdout, *switches, *slice, *buffer)
	})
}

func run(ctx context.Context, p *weft.Proc, out io.Writer, switches int, slice time.Duration, buffer int) error {
	x, err := pm.Open(ctx, p, 1, &pm.Config{SendBuffer: buffer, RecvBuffer: buffer})
	if err != nil {
		return err
	}
	defer x.Close()
	control := mpi.World(p)
	g := &gang{x: x, barrier: p.Barrier("gang", nil), control: control}
	for i := range g.programs {
		g.programs[i] = newProgram(i, x)
	}
	for left := 1; left > 0; {
		now := g.programs[g.turn]
		for end := p.Now() + slice; p.Now() < end; {
			if err := now.step(); err != nil {
				return fmt.Errorf("program %d: %w", g.turn, err)
			}
		}
		if left, err = g.change(ctx, len(g.totals) < switches); err != nil {
			return err
		}
	}
	if p.Rank() == 0 {
		return g.report(out, p.Size())
	}
	return nil
}

// A gang is two programs on one context, of which one has its turn.
type gang struct {
	x        *pm.Context
	barrier  *weft.Barrier
	control  *mpi.Comm
	programs [2]*program
	states   [2]pm.State
	turn     int

	sum    pm.SwitchStats  // of all switches
	totals []time.Duration // of each
	held   []int           // bytes that all nodes have saved, at each
}

// change gives the other program its turn, and returns how many messages have been sent and not received in both. When
// there is to be no more they only receive.
func (g *gang) change(ctx context.Context, more bool) (left int, err error) {
	now := g.turn
	next := 1 - g.turn
	t, err := g.x.Switch(ctx, g.barrier, &g.states[now], &g.states[next])
	if err != nil {
		return 0, err
	}
	g.note(t)
	held := g.states[now].Held()
	v := []int64{
		int64(held.Sent + held.Received), int64(held.SentBytes + held.ReceivedBytes),
		g.programs[now].way(), g.programs[next].way(), g.programs[now].owes() + g.programs[next].owes(),
	}
	if err := mpi.AllReduce(ctx, g.control, v, mpi.Sum[int64]); err != nil {
		return 0, err
	}
	if v[0] != v[2] {
		return 0, fmt.Errorf("%d messages are in the saved buffers of program %d, and %d have been sent and not received",
			v[0], now, v[2])
	}
	g.held = append(g.held, int(v[1]))
	g.turn = next
	for _, p := range g.programs {
		p.ending = !more
	}
	return int(v[2] + v[3] + v[4]), nil
}

func (g *gang) note(t pm.SwitchStats) {
	g.sum.Flush += t.Flush
	g.sum.Wait += t.Wait
	g.sum.Save += t.Save
	g.sum.Restore += t.Restore
	g.sum.Thaw += t.Thaw
	g.totals = append(g.totals, t.Total())
}

func (g *gang) report(out io.Writer, nodes int) error {
	n := time.Duration(len(g.totals))
	slices.Sort(g.totals)
	bytes := 0
	for _, b := range g.held {
		bytes += b
	}
	_, err := fmt.Fprintf(out, "%d switches of %d nodes, nothing lost or doubled: median %v, slowest %v\n"+
		"on average flush %v, wait for the others %v, save %v, restore %v, thaw %v\n"+
		"saved: %d bytes of messages by all nodes on average, %d at most\n",
		n, nodes, g.totals[n/2], g.totals[n-1], g.sum.Flush/n, g.sum.Wait/n, g.sum.Save/n, g.sum.Restore/n, g.sum.Thaw/n,
		bytes/int(n), slices.Max(g.held))
	return err
}

//go:build linux

package pm_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"weft"
	"weft/internal/waittest"
	"weft/job"
	"weft/pm"
)

// programs are those that everywhere runs.
var programs = map[string]func(context.Context, *weft.Proc) error{
	"exchange": exchange, "truncate": truncate, "transfer": transfer, "full": full, "asleep": asleep,
	"handles": handles, "composite": composite, "noalloc": noalloc, "held": held,
	"turns": turns, "frozen": frozen, "bereaved": bereaved, "whole or not": wholeOrNot,
}

// TestMain makes this test's executable what package job starts.
func TestMain(m *testing.M) {
	job.Main(programs)
	os.Exit(m.Run())
}

// everywhere runs a program of so many nodes as goroutines, in the simulator with loss, with machines of one node and
// of two, and as processes over each transport.
func everywhere(t *testing.T, nodes int, name string) {
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
	t.Cleanup(cancel)
	t.Run("pipe", func(t *testing.T) {
		if err := weft.Local(ctx, nodes, programs[name]); err != nil {
			t.Error(err)
		}
	})
	for _, perHost := range []int{0, 2} {
		t.Run(fmt.Sprintf("sim, %d on a host", max(perHost, 1)), func(t *testing.T) {
			c := weft.Cluster{Ranks: nodes, PerHost: perHost, Topology: "ring", Loss: 0.01, Seed: 7}
			if _, err := weft.Simulate(ctx, c, programs[name]); err != nil {
				t.Error(err)
			}
		})
	}
	for _, transport := range []weft.Transport{"shm", "udp", "tcp"} {
		t.Run(string(transport), func(t *testing.T) {
			j, err := job.Start(ctx, job.Config{Ranks: nodes, Run: name, Transport: transport})
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			if err := j.Wait(ctx); err != nil {
				for node := range nodes {
					t.Logf("node %d: %s", node, j.Output(node))
				}
				t.Error(err)
			}
		})
	}
}

func TestExchange(t *testing.T)  { everywhere(t, 4, "exchange") }
func TestTruncate(t *testing.T)  { everywhere(t, 2, "truncate") }
func TestTransfer(t *testing.T)  { everywhere(t, 3, "transfer") }
func TestFull(t *testing.T)      { everywhere(t, 3, "full") }
func TestAsleep(t *testing.T)    { everywhere(t, 2, "asleep") }
func TestHandles(t *testing.T)   { everywhere(t, 2, "handles") }
func TestComposite(t *testing.T) { everywhere(t, 4, "composite") }

// simulated reports whether the node is in a simulation.
func simulated(p *weft.Proc) bool { return strings.HasPrefix(p.Host(), "machine") }

// open opens channel 1.
func open(ctx context.Context, p *weft.Proc, cfg *pm.Config) (*pm.Context, error) {
	return pm.Open(ctx, p, 1, cfg)
}

// send sends a message; while there is no room it does what the caller gives it to do.
func send(x *pm.Context, node int, b []byte, meanwhile func() error) error {
	for {
		buf, err := x.GetSendBuffer(node, len(b))
		if err == nil {
			copy(buf, b)
			return x.Send()
		}
		if err != weft.ErrWouldBlock {
			return err
		}
		if err := meanwhile(); err != nil {
			return err
		}
	}
}

// receive takes the next message, when there is one.
func receive(ctx context.Context, x *pm.Context, take func(from int, b []byte) error) error {
	for {
		b, from, err := x.Receive()
		if err == nil {
			return errors.Join(take(from, b), x.ReleaseReceiveBuffer())
		}
		if err != weft.ErrWouldBlock {
			return err
		}
		if err := x.Wait(ctx); err != nil {
			return err
		}
	}
}

// again calls f until it does not return ErrWouldBlock.
func again(ctx context.Context, f func() error) error {
	for {
		if err := f(); err != weft.ErrWouldBlock || ctx.Err() != nil {
			return err
		}
	}
}

// finish waits for all nodes, since a context that is closed takes nothing.
func finish(ctx context.Context, p *weft.Proc, x *pm.Context) error {
	if err := p.Barrier("finish", nil).Wait(ctx); err != nil {
		return err
	}
	return x.Close()
}

package weft

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"weft/internal/bootstrap"
)

// Main is the main function of a program that is one rank: it joins the job
// of which it was started (see Join), or is a job of one, runs run, waits until all ranks
// have come this far, and leaves. It ends the process: with status 0, or 1 and
// a message if run returned an error. Messages that were sent and that nobody has accepted
// by then are told on standard error. The context ends on SIGINT and SIGTERM. Where others than weft run
// have started the job, rank 0 says on SIGQUIT what all ranks wait for, as weft ps does, before it ends with its stacks.
//
// A rank whose run has returned nil has left, for the others, as soon as they have
// accepted what it sent: calls that need it end with a PeerError that is Clean, barriers
// with a BrokenError. Its regions can be used until all have returned.
func Main(run func(ctx context.Context, p *Proc) error) {
	if text := os.Getenv(envSim); text != "" {
		os.Exit(simulated(text, run))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p, err := Join(ctx, nil)
	if err == nil {
		p.explainOnQuit()
		err = run(ctx, p)
		if err == nil {
			p.hasReturned()
			p.node.Drain(closePatience) // what is on its way arrives before its receivers leave
			// Others may still use our regions: leave together.
			err = p.src.Fence(ctx)
			if errors.Is(err, bootstrap.ErrLauncher) {
				err = nil
			}
		}
		if err == nil {
			err = p.end()
		} else {
			p.src.Fail("it failed: " + firstLine(err))
			_ = p.Close()
		}
	}
	if err != nil {
		who := "weft"
		if p != nil {
			who = fmt.Sprintf("weft: rank %d", p.Rank())
		}
		fmt.Fprintf(os.Stderr, "%s: %s\n", who, strings.TrimPrefix(err.Error(), "weft: "))
		stop()
		os.Exit(1)
	}
}

// firstLine returns what an error says first, for others to read.
func firstLine(err error) string {
	line, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "weft: "), "\n")
	const most = 200
	return line[:min(len(line), most)]
}

// end is the Close of a rank whose function has returned nil. What nobody has accepted is
// told on standard error: the program is to know, and has not failed.
func (p *Proc) end() error {
	err := p.Close()
	var lost *UndeliveredError
	if errors.As(err, &lost) {
		fmt.Fprintf(os.Stderr, "weft: rank %d: %s\n", p.Rank(), strings.TrimPrefix(lost.Error(), "weft: "))
		return nil
	}
	return err
}

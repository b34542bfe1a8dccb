package weft

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Main is the main function of a program that is one rank. It joins the job as part of which
// the process was started (see Join), or makes a job of one rank. It calls run, waits until
// all ranks have come this far, and leaves the job. Then it ends the process: with status 0,
// or with status 1 and a message on standard error if run returned an error. Messages that
// were sent and not accepted by then are named on standard error. The context of run ends on
// SIGINT and SIGTERM. If another launcher than weft run has started the job, rank 0 prints on
// SIGQUIT what all ranks wait for, as weft ps does, before it prints its stacks and ends.
//
// A rank whose run has returned nil counts as having left as soon as the other ranks have
// accepted what it sent: calls that need it end with a PeerError whose Clean is true, and
// barriers with a BrokenError. Its regions can be used until all ranks have returned.
func Main(run func(ctx context.Context, p *Proc) error) {
	if text := os.Getenv(envSim); text != "" {
		os.Exit(simulated(text, run))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p, err := Join(ctx, nil)
	where := ""
	if err == nil {
		p.explainOnQuit()
		err = run(ctx, p)
		if err == nil {
			p.hasReturned()
			p.node.Drain(closePatience) // what is on its way arrives before its receivers leave
			// Other ranks may still use the regions of this one: all leave together.
			err = p.src.Fence(ctx)
			if errors.Is(err, ErrLauncher) {
				err = nil
			}
		}
		if err == nil {
			err = p.end()
		} else {
			p.src.Fail("it failed: " + firstLine(err))
			where = p.whereabouts(err)
			_ = p.Close()
		}
	}
	if err != nil {
		speaker := "weft"
		if p != nil {
			speaker = "weft: " + p.title()
		}
		fmt.Fprintf(os.Stderr, "%s: %s%s\n", speaker, strings.TrimPrefix(err.Error(), "weft: "), where)
		stop()
		os.Exit(1)
	}
}

// firstLine returns the first line of an error's text, at most 200 bytes, for the other ranks.
func firstLine(err error) string {
	line, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "weft: "), "\n")
	const most = 200
	return line[:min(len(line), most)]
}

// end is the Close of a rank whose function has returned nil. Messages that were not accepted
// are named on standard error, but do not make the rank fail.
func (p *Proc) end() error {
	err := p.Close()
	var lost *UndeliveredError
	if errors.As(err, &lost) {
		fmt.Fprintf(os.Stderr, "weft: rank %d: %s\n", p.Rank(), strings.TrimPrefix(lost.Error(), "weft: "))
		return nil
	}
	return err
}

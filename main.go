package weft

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"weft/internal/join"
	"weft/internal/sim/job"
)

// Main is the main function of a program that is one rank. It joins the job as part of which
// the process was started (see Join), or makes a job of one rank. It calls run, waits until
// all ranks have come this far, and leaves the job. Then it ends the process: with status 0,
// or with status 1 and a message on standard error if run returned an error. Messages that
// were sent and not accepted by then are named on standard error. The context of run ends on
// SIGINT and SIGTERM; a second signal ends the process at once, and weft run kills ranks that do
// not end in time. If another launcher than weft run has started the job, rank 0 prints on
// SIGQUIT what all ranks wait for, as weft ps does, before it prints its stacks and ends.
//
// A rank whose run has returned nil counts as having left as soon as the other ranks have
// accepted what it sent: calls that need it end with a PeerError whose Clean is true, and
// barriers with a BrokenError. Its regions can be used until all ranks have returned. Calls that its
// own goroutines begin from then on return ErrClosed.
//
// A rank whose run has returned an error has failed: the others get a PeerError whose Clean is false,
// with the first line of the error, as soon as they have received what the rank sent before, or have
// accepted nothing of it for a fifth of a second.
func Main(run func(ctx context.Context, p *Proc) error) {
	signals := []os.Signal{os.Interrupt}
	if os.Getenv(job.Env) == "" { // a simulation ends at once on SIGTERM, whatever its ranks do
		signals = append(signals, syscall.SIGTERM)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, stop) // a second signal ends the process
	speaker, where, err := execute(ctx, run)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %s%s\n", speaker, strings.TrimPrefix(err.Error(), "weft: "), where)
		os.Exit(1)
	}
}

// execute is Main but for the end of the process. With an error it returns the name that reports it, and on which host
// a rank was whose end the error reports.
func execute(ctx context.Context, run func(ctx context.Context, p *Proc) error) (speaker, where string, err error) {
	if os.Getenv(job.Env) != "" {
		return "weft", "", job.Obey(ctx, programOf(run))
	}
	p, err := Join(ctx, nil)
	if err != nil {
		return "weft", "", err
	}
	speaker = "weft: " + p.member.Title()
	p.member.ExplainOnQuit()
	if err = run(ctx, p); err == nil {
		err = p.together(ctx)
	}
	if err == nil {
		return speaker, "", p.end(ctx)
	}
	p.fail(ctx, err)
	var gone *PeerError
	if errors.As(err, &gone) {
		where = p.member.Whereabouts(gone.Rank)
	}
	return speaker, where, err
}

// together returns when the programs of all ranks have returned: other ranks may still use the regions of this one. The
// end of the launcher is no error here.
func (p *Proc) together(ctx context.Context) error {
	p.hasReturned()
	p.node.Drain(ctx, join.ClosePatience) // what is on its way arrives before its receivers leave
	err := p.member.Source.Fence(ctx)
	if errors.Is(err, ErrLauncher) {
		return nil
	}
	return err
}

// end is the Close of a rank whose function has returned nil. Messages that were not accepted
// are named on standard error, but do not make the rank fail.
func (p *Proc) end(ctx context.Context) error {
	err := p.close(ctx, join.ClosePatience)
	var lost *UndeliveredError
	if errors.As(err, &lost) {
		fmt.Fprintf(os.Stderr, "weft: rank %d: %s\n", p.Rank(), strings.TrimPrefix(lost.Error(), "weft: "))
		return nil
	}
	return err
}

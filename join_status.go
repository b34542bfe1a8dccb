package weft

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"weft/internal/bootstrap"
	"weft/internal/bootstrap/environment"
	"weft/internal/launch"
	"weft/internal/waitgraph"
)

// answerQuestions makes rank 0 answer weft ps if another launcher than weft run has started the
// job. Rank 0 serves the ranks then, and only it knows them all. It answers until all ranks
// have left, or its process ends.
func (p *Proc) answerQuestions() {
	server, over := p.serves()
	if server == nil {
		return
	}
	by := p.src.(*environment.Source).By()
	began := time.Now()
	stop := launch.Listen(bootstrap.NewID(), func() launch.Status {
		return launch.Status{
			PID: os.Getpid(), By: by, Program: os.Args[0], Args: os.Args[1:], Started: began, Restart: p.again,
			Ranks: launch.Ask(server),
		}
	})
	go func() {
		<-over
		stop()
	}()
}

// serves returns the server of the ranks, and a channel that is closed when all ranks have left, if this rank
// serves them; else nil.
func (p *Proc) serves() (server *bootstrap.Server, over <-chan struct{}) {
	if src, ok := p.src.(*environment.Source); ok {
		return src.Server()
	}
	return nil, nil
}

// title returns this rank's name for messages on standard error. Where others than weft run have started the job it
// tells the host, too: their own messages may not.
func (p *Proc) title() string {
	if _, ok := p.src.(*environment.Source); ok {
		return fmt.Sprintf("rank %d on %s", p.job.Rank, environment.HostName(p.job.Host))
	}
	return fmt.Sprintf("rank %d", p.job.Rank)
}

// whereabouts tells in such a message on which host the rank was whose end an error reports; "" if there is none, or
// its card has not come.
func (p *Proc) whereabouts(err error) string {
	var gone *PeerError
	if _, ok := p.src.(*environment.Source); !ok || !errors.As(err, &gone) {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond) // rank 0 may have stopped
	defer cancel()
	text, err := p.src.Get(ctx, gone.Rank, "card")
	if err != nil {
		return ""
	}
	c, err := parseCard(text)
	if err != nil {
		return ""
	}
	return fmt.Sprintf(" (rank %d was on %s)", gone.Rank, environment.HostName(c.Host))
}

// explainOnQuit makes this process, if it serves the ranks, print on SIGQUIT what all of them wait for, as weft
// run does. Then the signal takes its ordinary course: the Go runtime prints the stacks and ends the process.
func (p *Proc) explainOnQuit() {
	server, _ := p.serves()
	if server == nil {
		return
	}
	quit := make(chan os.Signal, 1)
	signal.Notify(quit, syscall.SIGQUIT)
	go func() {
		<-quit
		if err := waitgraph.New(launch.Ask(server)).WriteText(os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, "weft:", err)
		}
		signal.Stop(quit)
		_ = syscall.Kill(os.Getpid(), syscall.SIGQUIT) // the stacks
	}()
}

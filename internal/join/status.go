package join

import (
	"context"
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

// foreign returns the source if another launcher than weft run has started the job, else nil.
func (m *Member) foreign() *environment.Source {
	src, _ := m.Source.(*environment.Source)
	return src
}

// serves returns the server of the ranks, and a channel that is closed when all ranks have left, if this rank
// serves them: rank 0 does where another launcher than weft run has started the job. Else it returns nil.
func (m *Member) serves() (server *bootstrap.Server, over <-chan struct{}) {
	if src := m.foreign(); src != nil {
		return src.Server()
	}
	return nil, nil
}

// serveStatus makes the rank that serves the others answer weft ps: only it knows them all. It answers until all
// ranks have left, or its process ends.
func (m *Member) serveStatus() {
	server, over := m.serves()
	if server == nil {
		return
	}
	began := time.Now()
	stop := launch.Listen(bootstrap.NewID(), func() launch.Status {
		return launch.Status{
			PID: os.Getpid(), By: m.foreign().By(), Program: os.Args[0], Args: os.Args[1:], Started: began,
			Restart: m.Restarts, Ranks: launch.Ask(server),
		}
	})
	go func() {
		<-over
		stop()
	}()
}

// Title returns this rank's name for messages on standard error. Where others than weft run have started the job it
// tells the host, too: their own messages may not.
func (m *Member) Title() string {
	if m.foreign() != nil {
		return fmt.Sprintf("rank %d on %s", m.Job.Rank, environment.HostName(m.Job.Host))
	}
	return fmt.Sprintf("rank %d", m.Job.Rank)
}

// Whereabouts tells in such a message on which host a rank was whose end an error reports; "" if its card has not
// come, or weft run tells it.
func (m *Member) Whereabouts(rank int) string {
	if m.foreign() == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond) // rank 0 may have stopped
	defer cancel()
	c, err := m.CardOf(ctx, rank)
	if err != nil {
		return ""
	}
	return fmt.Sprintf(" (rank %d was on %s)", rank, environment.HostName(c.Host))
}

// ExplainOnQuit makes this process, if it serves the ranks, print on SIGQUIT what all of them wait for, as weft
// run does. Then the signal takes its ordinary course: the Go runtime prints the stacks and ends the process.
func (m *Member) ExplainOnQuit() {
	server, _ := m.serves()
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

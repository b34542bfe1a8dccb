package weft

import (
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

// Where others have started the job nobody else knows all ranks, so rank 0, which serves them,
// answers weft ps: until all have left, or its process ends.
func (p *Proc) answerQuestions() {
	server, over := p.serves()
	if server == nil {
		return
	}
	by, began := p.src.(*environment.Source).By(), time.Now()
	stop := launch.Listen(bootstrap.NewID(), func() launch.Status {
		return launch.Status{
			PID: os.Getpid(), By: by, Program: os.Args[0], Args: os.Args[1:], Started: began, Restart: p.again, Ranks: launch.Ask(server),
		}
	})
	go func() {
		<-over
		stop()
	}()
}

// serves returns what serves the ranks, and a channel that is closed when all have left, if this rank serves
// them; else nil.
func (p *Proc) serves() (server *bootstrap.Server, over <-chan struct{}) {
	if src, ok := p.src.(*environment.Source); ok {
		return src.Server()
	}
	return nil, nil
}

// explainOnQuit makes this process, if it serves the ranks, say what all of them wait for when it gets SIGQUIT,
// as weft run does, and go on with what that signal does to it without us.
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

// Command weft starts jobs, measures them and explains them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/launch"
)

// An exit is an error that only sets the exit status: the reason has been
// told.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

func main() {
	launch.Guarded()
	if measured() { // a rank that weft perf, weft info or weft doctor has started
		return
	}
	args := os.Args[1:]
	if len(args) > 0 && args[0] == "agent" {
		os.Exit(status(serveAgent()))
	}
	if len(args) > 0 && args[0] == "help" { // help COMMAND is COMMAND -h
		args = append(args[1:], "-h")
	}
	os.Exit(status(run(args)))
}

// run runs a command. What the flag packages would print goes to standard error if
// help was asked for; otherwise the error says what is wrong, in a line.
func run(args []string) error {
	root := &ffcli.Command{
		Name:       "weft",
		ShortUsage: "weft COMMAND [FLAGS] …",
		LongHelp:   "weft starts parallel Go jobs, measures them and explains them.\nweft help COMMAND, or weft COMMAND -h, tells more of each command.",
		FlagSet:    flag.NewFlagSet("weft", flag.ContinueOnError),
		Subcommands: []*ffcli.Command{
			runCommand(), k8sCommand(), psCommand(), topCommand(), viewCommand(), proxyCommand(), simCommand(), labCommand(), stressCommand(), perfCommand(), amtCommand(), infoCommand(), doctorCommand(), versionCommand(),
		},
	}
	root.Exec = func(ctx context.Context, args []string) error {
		if len(args) == 0 {
			return flag.ErrHelp
		}
		return unknown(args[0], root.Subcommands)
	}
	var said strings.Builder
	at := root // the command that the arguments mean
	quieten(root, &said, func(c *ffcli.Command) { at = c })
	err := root.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp): // as asked
		fmt.Fprint(os.Stderr, said.String())
		return nil
	case err != nil:
		name := at.FlagSet.Name()
		return fmt.Errorf("%s: %w; %s -h lists the flags", strings.TrimPrefix(name, "weft "), errors.Unwrap(err), name)
	}
	err = root.Run(context.Background())
	if errors.Is(err, flag.ErrHelp) { // something is missing
		fmt.Fprint(os.Stderr, said.String())
	}
	return err
}

// quieten makes a command and those below it write to said, and call asked when they
// write how they are used.
func quieten(c *ffcli.Command, said io.Writer, asked func(*ffcli.Command)) {
	if c.FlagSet == nil {
		c.FlagSet = flag.NewFlagSet(c.Name, flag.ContinueOnError)
	}
	c.FlagSet.SetOutput(said)
	c.UsageFunc = func(c *ffcli.Command) string {
		asked(c)
		return ffcli.DefaultUsageFunc(c)
	}
	for _, sub := range c.Subcommands {
		quieten(sub, said, asked)
	}
}

// status tells an error, and returns the exit status for it.
func status(err error) int {
	var known exit
	switch {
	case err == nil:
		return 0
	case errors.As(err, &known):
		return int(known)
	case errors.Is(err, flag.ErrHelp):
		return 2
	default:
		fmt.Fprintf(os.Stderr, "weft: %s\n", strings.TrimPrefix(err.Error(), "weft: "))
		return 1
	}
}

// untilSignal returns a context that ends when a signal asks this process to end, with
// the exit status that this means as its cause.
func untilSignal(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		select {
		case s := <-signals:
			cancel(exit(128 + int(s.(syscall.Signal))))
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

// unknown says which command may have been meant.
func unknown(word string, commands []*ffcli.Command) error {
	var names []string
	for _, c := range commands {
		if word != "" && strings.HasPrefix(c.Name, word[:1]) {
			return fmt.Errorf("there is no command %q; did you mean %q?", word, c.Name)
		}
		names = append(names, c.Name)
	}
	return fmt.Errorf("there is no command %q; there are %s", word, strings.Join(names, ", "))
}

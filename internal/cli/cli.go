// Package cli is the frame of the commands weft and weftlab: how they parse, explain and end.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/peterbourgon/ff/v3/ffcli"
)

// An Exit is an error that only sets the exit status: the reason has been printed already.
type Exit int

func (e Exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// Main runs a command with the arguments of this process, and ends the process with its status.
func Main(root *ffcli.Command) { os.Exit(Do(root, os.Args[1:])) }

// Do runs a command, prints its error, and returns the exit status. "help COMMAND" is "COMMAND -h".
func Do(root *ffcli.Command, args []string) int {
	if len(args) > 0 && args[0] == "help" {
		args = append(slices.Clone(args[1:]), "-h")
	}
	return Status(root.Name, run(root, args))
}

// run runs a command. The usage text of the flag packages is printed, to standard error, if help was asked for or an
// argument is missing; otherwise the error says in one line what is wrong.
func run(root *ffcli.Command, args []string) error {
	root.FlagSet = flag.NewFlagSet(root.Name, flag.ContinueOnError)
	root.Exec = func(ctx context.Context, args []string) error {
		if len(args) == 0 {
			return flag.ErrHelp
		}
		return Unknown(args[0], root.Subcommands)
	}
	var said strings.Builder
	at := root // the command whose usage was asked for last
	quieten(root, &said, func(c *ffcli.Command) { at = c })
	err := root.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp): // help was asked for
		fmt.Fprint(os.Stderr, said.String())
		return nil
	case err != nil:
		name := at.FlagSet.Name()
		return fmt.Errorf("%s: %w; %s -h lists the flags", strings.TrimPrefix(name, root.Name+" "), errors.Unwrap(err), name)
	}
	err = root.Run(context.Background())
	if errors.Is(err, flag.ErrHelp) { // an argument is missing
		fmt.Fprint(os.Stderr, said.String())
	}
	return err
}

// quieten makes a command and its subcommands write to said, and call asked before they write their usage.
func quieten(c *ffcli.Command, said io.Writer, asked func(*ffcli.Command)) {
	if c.FlagSet == nil {
		c.FlagSet = flag.NewFlagSet(c.Name, flag.ContinueOnError)
	}
	c.FlagSet.SetOutput(said)
	c.UsageFunc = func(c *ffcli.Command) string {
		asked(c)
		return wrapFlags(ffcli.DefaultUsageFunc(c))
	}
	for _, sub := range c.Subcommands {
		quieten(sub, said, asked)
	}
}

// wrapFlags breaks the lines that describe flags where they are too long for a terminal.
func wrapFlags(usage string) string {
	const width = 100
	var out strings.Builder
	for line := range strings.Lines(usage) {
		column := strings.LastIndex(line, "  ") + 2 // where the description begins
		if !strings.HasPrefix(line, "  -") || len(line) <= width || column > width/2 {
			out.WriteString(line)
			continue
		}
		out.WriteString(line[:column])
		at := column
		for i, word := range strings.Fields(line[column:]) {
			switch {
			case i > 0 && at+1+len(word) > width:
				out.WriteString("\n" + strings.Repeat(" ", column))
				at = column
			case i > 0:
				out.WriteString(" ")
				at++
			}
			out.WriteString(word)
			at += len(word)
		}
		out.WriteString("\n")
	}
	return out.String()
}

// Status prints an error of the command of this name, and returns the exit status for it.
func Status(name string, err error) int {
	var known Exit
	switch {
	case err == nil:
		return 0
	case errors.As(err, &known):
		return int(known)
	case errors.Is(err, flag.ErrHelp):
		return 2
	default:
		fmt.Fprintf(os.Stderr, "%s: %s\n", name, strings.TrimPrefix(err.Error(), "weft: "))
		return 1
	}
}

// UntilSignal returns a context that ends when a signal asks this process to end. The context's cause is then the exit
// status for that signal.
func UntilSignal(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		select {
		case s := <-signals:
			cancel(Exit(128 + int(s.(syscall.Signal))))
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

// Unknown returns the error for a word that names no command: it proposes one that begins alike, or lists all.
func Unknown(word string, commands []*ffcli.Command) error {
	var names []string
	for _, c := range commands {
		if word != "" && strings.HasPrefix(c.Name, word[:1]) {
			return fmt.Errorf("there is no command %q; did you mean %q?", word, c.Name)
		}
		names = append(names, c.Name)
	}
	return fmt.Errorf("there is no command %q; there are %s", word, strings.Join(names, ", "))
}

// Unexpected is the error for an argument of a command that takes flags only.
func Unexpected(command, argument string) error {
	return fmt.Errorf("%s: unexpected argument %q. Flags begin with -", command, argument)
}

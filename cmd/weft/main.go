// Command weft starts jobs, measures them and explains them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/launch"
)

// An exit is an error that only sets the exit status: the reason has been
// told.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

func main() {
	launch.Guarded()
	if measured() { // a rank that weft perf or weft info has started
		return
	}
	root := &ffcli.Command{
		Name:       "weft",
		ShortUsage: "weft COMMAND [FLAGS] …",
		LongHelp:   "weft starts parallel Go jobs, measures them and explains them.\nweft COMMAND -h tells more of each command.",
		FlagSet:    flag.NewFlagSet("weft", flag.ContinueOnError),
		Subcommands: []*ffcli.Command{
			runCommand(), psCommand(), simCommand(), labCommand(), stressCommand(), perfCommand(), amtCommand(), infoCommand(), versionCommand(),
		},
	}
	root.Exec = func(ctx context.Context, args []string) error {
		if len(args) == 0 || args[0] == "help" {
			return flag.ErrHelp
		}
		return unknown(args[0], root.Subcommands)
	}
	err := root.ParseAndRun(context.Background(), os.Args[1:])
	var status exit
	switch {
	case err == nil:
	case errors.As(err, &status):
		os.Exit(int(status))
	case errors.Is(err, flag.ErrHelp) && askedForHelp():
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2) // something is missing
	default:
		fmt.Fprintf(os.Stderr, "weft: %s\n", strings.TrimPrefix(err.Error(), "weft: "))
		os.Exit(1)
	}
}

func askedForHelp() bool {
	return slices.ContainsFunc(os.Args[1:], func(a string) bool {
		return a == "-h" || a == "-help" || a == "--help" || a == "help"
	})
}

// unknown says which command may have been meant.
func unknown(word string, commands []*ffcli.Command) error {
	var names []string
	for _, c := range commands {
		if strings.HasPrefix(c.Name, word[:1]) {
			return fmt.Errorf("there is no command %q; did you mean %q?", word, c.Name)
		}
		names = append(names, c.Name)
	}
	return fmt.Errorf("there is no command %q; there are %s", word, strings.Join(names, ", "))
}

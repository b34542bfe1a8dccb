// Command weftlab is weft's laboratory: it measures weft beside its peers, torments it, and models what it is built
// from.
package main

import (
	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/cli"
	"weft/internal/launch"
	"weft/lab/perf"
	"weft/lab/perf/mpisuite"
	"weft/lab/perf/services"
	"weft/lab/stress"
)

func main() {
	launch.Guarded()
	if perf.Rank() || mpisuite.Rank() || services.Server() || stress.Rank() { // a process that a measurement has started
		return
	}
	cli.Main(command())
}

// command returns weftlab, with its commands.
func command() *ffcli.Command {
	return &ffcli.Command{
		Name:       "weftlab",
		ShortUsage: "weftlab COMMAND [FLAGS] …",
		LongHelp: "weftlab measures weft beside its peers, looks for its faults, and models networks and hardware.\n" +
			"weftlab help COMMAND, or weftlab COMMAND -h, describes a command and its flags.",
		Subcommands: []*ffcli.Command{
			labCommand(), perfCommand(), mpiCommand(), targetsCommand(), compareCommand(), stressCommand(), simCommand(), amtCommand(),
		},
	}
}

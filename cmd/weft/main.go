// Command weft starts jobs, measures them and explains them.
package main

import (
	"os"

	"github.com/peterbourgon/ff/v3/ffcli"

	_ "weft/etcd"
	"weft/internal/cli"
	"weft/internal/launch"
)

func main() {
	launch.Guarded()
	if ownRank() {
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "agent" {
		os.Exit(cli.Status("weft", serveAgent()))
	}
	cli.Main(command())
}

// command returns weft, with its commands.
func command() *ffcli.Command {
	return &ffcli.Command{
		Name:       "weft",
		ShortUsage: "weft COMMAND [FLAGS] …",
		LongHelp: "weft starts parallel Go jobs, shows what they do, and measures them.\n" +
			"weft help COMMAND, or weft COMMAND -h, describes a command and its flags.",
		Subcommands: []*ffcli.Command{
			runCommand(), k8sCommand(), psCommand(), topCommand(), viewCommand(), proxyCommand(), simCommand(),
			perfCommand(), infoCommand(), doctorCommand(), versionCommand(),
		},
	}
}

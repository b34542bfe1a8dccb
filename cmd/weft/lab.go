package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/lab"
	"weft/internal/launch"
	"weft/internal/sys"
)

const labHelp = `Makes hosts on this machine, network namespaces joined by virtual Ethernet, runs
COMMAND on the first of them, and removes them when it has ended. There, weft run
places ranks on the hosts in turn, and weft perf measures between two of them.
Two hosts are joined directly, more by a bridge. It needs root.

If weft lab is killed with its hosts, weft lab clean removes what is left.

EXAMPLES
  weft lab -hosts 2 -- weft run -n 2 -transport eth ./examples/ping
  weft lab -hosts 2 -mtu 9000 -- weft perf bandwidth -transport eth
  weft lab -hosts 4 -- weft info -n 8
  weft lab -faults lose=0.01,reorder=0.1 -- weft run -n 4 ./examples/nas/is -class W
  weft lab clean`

func labCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weft lab", flag.ContinueOnError)
	hosts := fs.Int("hosts", 2, "number of hosts")
	mtu := fs.Int("mtu", 1500, "longest Ethernet payload in bytes")
	faults := fs.String("faults", "", "what happens to packets between hosts: lose=0.01,repeat=0.01,reorder=0.1,damage=0.01")
	clean := &ffcli.Command{
		Name: "clean", ShortUsage: "weft lab clean", ShortHelp: "remove the hosts of labs that were killed",
		FlagSet: flag.NewFlagSet("weft lab clean", flag.ContinueOnError),
		Exec: func(ctx context.Context, args []string) error {
			removed, err := lab.Clean()
			for _, name := range removed {
				fmt.Println("removed", name)
			}
			return err
		},
	}
	return &ffcli.Command{
		Name: "lab", ShortUsage: "weft lab [FLAGS] -- COMMAND [ARGS]", ShortHelp: "run a command on several hosts, made for it on this machine",
		LongHelp: labHelp, FlagSet: fs, Subcommands: []*ffcli.Command{clean},
		Exec: func(ctx context.Context, args []string) error {
			if len(args) == 0 {
				return errors.New("lab: which command? For example: weft lab -hosts 2 -- weft run -n 2 ./examples/hello")
			}
			return runLab(*hosts, *mtu, *faults, args)
		},
	}
}

func runLab(n, mtu int, faults string, args []string) (err error) {
	if os.Getuid() != 0 {
		return errors.New("lab: making hosts needs root")
	}
	program, err := exec.LookPath(args[0])
	if args[0] == "weft" {
		program, err = os.Executable() // this one
	}
	if err != nil {
		return fmt.Errorf("lab: %w", err)
	}
	// We stay to clean up. What the terminal sends reaches the command by itself,
	// which is in our group; to pass that on would make two of each Ctrl-C.
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	l, err := lab.Make(n, mtu)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Remove()) }()
	var hosts []launch.Host
	for _, h := range l.Hosts {
		hosts = append(hosts, launch.Host{Namespace: h.Namespace, Address: h.IP.String(), Interface: lab.Interface})
	}
	cmd := exec.Command(program, args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), launch.LabEnv(hosts))
	if faults != "" {
		cmd.Env = append(cmd.Env, "WEFT_FAULTS="+faults)
	}
	if err := sys.InNetwork(l.Hosts[0].Namespace, cmd.Start); err != nil {
		return err
	}
	go func() {
		for s := range signals {
			if s == syscall.SIGTERM {
				_ = cmd.Process.Signal(s)
			}
		}
	}()
	err = cmd.Wait()
	if ended := new(exec.ExitError); errors.As(err, &ended) {
		if s, ok := ended.Sys().(syscall.WaitStatus); ok && s.Signaled() {
			return exit(128 + int(s.Signal()))
		}
		return exit(ended.ExitCode())
	}
	return err
}

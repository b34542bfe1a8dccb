package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/cli"
	"weft/internal/sys"
	"weft/lab/netlab"
)

const labHelp = `Makes several hosts on this machine, runs COMMAND on the first one, and removes the
hosts when the command has ended. A host is a network namespace; virtual Ethernet
joins them. In a lab, weft run places ranks on the hosts in turn, and weftlab perf
measures between two hosts. Two hosts are joined directly, three or more by a switch
(a bridge). With -router each host is on a network of its own, and a router between
them forwards IP packets only. weftlab lab needs root.

If weftlab lab itself is killed, its hosts stay: weftlab lab clean removes them.

EXAMPLES
  weftlab lab -hosts 2 -- weft run -n 2 -transport eth ./examples/ping
  weftlab lab -hosts 2 -mtu 9000 -- weftlab perf bandwidth -transport eth
  weftlab lab -hosts 4 -- weft info -n 8
  weftlab lab -loss 0.01 -- weftlab perf bandwidth -transport eth -vs tcp
  weftlab lab -router -- weft info
  weftlab lab -ipv6 -- weft doctor
  weftlab lab -hosts 3 -rate 200 -- weftlab perf sharing -transport udp
  weftlab lab -delay 200us -faults reorder=0.1 -- weft run -n 4 ./examples/nas/is -class W
  weftlab lab -pcap ping.pcap -- weft run -n 2 -transport eth ./examples/ping
  wireshark -X lua_script:docs/wireshark/weft.lua ping.pcap
  weftlab lab clean`

func labCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weftlab lab", flag.ContinueOnError)
	var f labFlags
	fs.IntVar(&f.hosts, "hosts", 2, "number of hosts")
	fs.IntVar(&f.mtu, "mtu", 1500, "longest Ethernet payload in bytes")
	fs.IntVar(&f.interfaces, "interfaces", 1,
		"interfaces of each host: the first ones of all hosts are on one network, the second ones on another")
	fs.BoolVar(&f.router, "router", false, "put each host on a network of its own, with a router between them")
	fs.BoolVar(&f.ipv6, "ipv6", false, "give the hosts addresses of IPv6, and none of IPv4")
	fs.Float64Var(&f.loss, "loss", 0, "share of all frames that are lost, from 0 to less than 1")
	fs.IntVar(&f.rate, "rate", 0,
		"rate in Mbit/s of each port of the switch, which three hosts or more have, or of the router; 0: no limit")
	fs.IntVar(&f.queue, "queue", 256, "with -rate: KiB that may wait at each port before frames are lost")
	fs.DurationVar(&f.delay, "delay", 0, "time by which each packet over UDP and raw Ethernet is delayed, such as 200us; TCP is not")
	fs.StringVar(&f.faults, "faults", "",
		"faults of weft's packets, by share: lose=0.01,repeat=0.01,reorder=0.1,damage=0.01")
	fs.StringVar(&f.pcap, "pcap", "", "write every frame that crosses the network to this file, for Wireshark")
	clean := &ffcli.Command{
		Name:       "clean",
		ShortUsage: "weftlab lab clean",
		ShortHelp:  "remove the hosts of labs that were killed",
		FlagSet:    flag.NewFlagSet("weftlab lab clean", flag.ContinueOnError),
		Exec: func(ctx context.Context, args []string) error {
			removed, err := netlab.Clean()
			for _, name := range removed {
				fmt.Println("removed", name)
			}
			return err
		},
	}
	return &ffcli.Command{
		Name:        "lab",
		ShortUsage:  "weftlab lab [FLAGS] -- COMMAND [ARGS]",
		ShortHelp:   "run a command on several hosts, made for it on this machine",
		LongHelp:    labHelp,
		FlagSet:     fs,
		Subcommands: []*ffcli.Command{clean},
		Exec: func(ctx context.Context, args []string) error {
			if len(args) == 0 {
				return errors.New("lab: which command? For example: weftlab lab -hosts 2 -- weft run -n 2 ./examples/hello")
			}
			return runLab(f, args)
		},
	}
}

type labFlags struct {
	hosts, mtu   int
	interfaces   int
	router, ipv6 bool
	loss         float64
	rate, queue  int
	delay        time.Duration
	faults, pcap string
}

// build makes the lab that the flags describe. The caller calls end before it removes the lab.
func (f labFlags) build() (l *netlab.Lab, end func() error, err error) {
	if f.loss < 0 || f.loss >= 1 {
		return nil, nil, fmt.Errorf("lab: -loss %g: must be from 0 to less than 1", f.loss)
	}
	if f.rate < 0 || f.rate > 1e6 || f.queue < 0 || f.queue > 1<<20 {
		return nil, nil, fmt.Errorf("lab: -rate %d -queue %d: must be from 0 to 1000000 Mbit/s, and from 0 to 1048576 KiB",
			f.rate, f.queue)
	}
	end = func() error { return nil }
	if f.router && f.interfaces > 1 {
		return nil, nil, fmt.Errorf("lab: -interfaces %d: with -router every host has one interface", f.interfaces)
	}
	family := netlab.IPv4
	if f.ipv6 {
		family = netlab.IPv6
	}
	if f.router {
		l, err = family.MakeRouted(f.hosts, f.mtu)
	} else {
		l, err = family.MakeTrunk(f.hosts, f.mtu, f.interfaces)
	}
	if err != nil {
		return nil, nil, err
	}
	if f.loss > 0 {
		err = l.Lose(f.loss)
	}
	if f.rate != 0 && err == nil {
		err = l.Limit(uint64(f.rate)*1e6, uint32(f.queue)<<10)
	}
	if f.pcap != "" && err == nil {
		end, err = capture(l, f.pcap)
	}
	if err != nil {
		return nil, nil, errors.Join(err, l.Remove())
	}
	return l, end, nil
}

// capture writes every frame that crosses the network to a file, until end is called.
func capture(l *netlab.Lab, name string) (end func() error, err error) {
	file, err := sys.CreateFresh(name)
	if err != nil {
		return nil, err
	}
	out := bufio.NewWriterSize(file, 1<<20)
	stop, err := l.Record(out)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() error { return errors.Join(stop(), out.Flush(), file.Close()) }, nil
}

// findProgram returns the file of a command: weftlab is this one, and weft is the one beside it, if there is one.
func findProgram(name string) (string, error) {
	self, err := os.Executable()
	if err != nil || name == "weftlab" {
		return self, err
	}
	beside := filepath.Join(filepath.Dir(self), name)
	if _, err := os.Stat(beside); name == "weft" && err == nil {
		return beside, nil
	}
	file, err := exec.LookPath(name)
	if err != nil && name == "weft" {
		err = fmt.Errorf("%w: install it with go install ./cmd/weft", err)
	}
	return file, err
}

func runLab(f labFlags, args []string) (err error) {
	if os.Getuid() != 0 {
		return errors.New("lab: making hosts needs root")
	}
	program, err := findProgram(args[0])
	if err != nil {
		return fmt.Errorf("lab: %w", err)
	}
	// This process catches signals, so that it lives to remove the lab. A signal of the terminal reaches the command
	// anyway, which is in the same process group; to pass it on would make two of each Ctrl-C.
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	l, end, err := f.build()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end(), l.Remove()) }()
	cmd := exec.Command(program, args[1:]...)
	cmd.Stdin = os.Stdin
	cmd.Stdout = os.Stdout
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), l.Env(f.interfaces))
	if f.delay > 0 {
		f.faults = strings.Trim(f.faults+",delay="+f.delay.String(), ",")
	}
	if f.faults != "" {
		cmd.Env = append(cmd.Env, "WEFT_FAULTS="+f.faults)
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
	return exitOf(cmd.Wait())
}

// exitOf returns how a program that a command has run has ended, as the command's own exit status:
// 128 + the signal's number after a signal, as shells report it. Other errors stay as they are.
func exitOf(err error) error {
	ended := new(exec.ExitError)
	if !errors.As(err, &ended) {
		return err
	}
	if s, ok := ended.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return cli.Exit(128 + int(s.Signal()))
	}
	return cli.Exit(ended.ExitCode())
}

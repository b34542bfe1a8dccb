package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft"
	"weft/internal/cli"
	"weft/internal/launch"
	"weft/internal/launch/page"
)

const runHelp = `Runs PROGRAM as N processes, which are the ranks of one job. PROGRAM is an executable,
a command in $PATH, or a Go package such as ./examples/hello, which weft builds first.
Flags for weft come before PROGRAM, arguments for the program after it.

Input and output. Standard input goes to rank 0. The ranks' output is written line by
line, so that lines of different ranks do not mix.

Signals. weft run passes signals on to all ranks. Ranks that have not ended some time
(-grace) after a signal that ends programs are killed; so are all after a second Ctrl-C.

When a rank fails. The other ranks are ended, and weft run exits with the status of
the rank that failed, or 128 + the number of the signal that ended it. It exits with
124 if -timeout ended the job, and with 128 + the number of the signal if a signal to
weft run did (130 after Ctrl-C), unless all ranks ended well. With -survive the other
ranks go on: the job succeeds if at least one rank ended well and no rank exited with
a status other than 0.

Restarts. With -restart N, when a rank has failed and all have ended, the whole job is
started again with the same arguments, up to N times. WEFT_RESTART tells the ranks how
often: it is 0 at first. Standard input goes to the first run only. -timeout is for
all runs together.

Hosts. With -hosts or -hostfile the ranks run on these hosts: the first ranks on the
first host, as many as it has slots (1 if not given), the next on the second, and so
on. In an allocation of Slurm, PBS, LSF or Grid Engine its hosts are used without a
flag. weft must have the same path on each host as here, and so must PROGRAM, unless
-copy copies it. Ranks run in the same directory as here, where the host has it. Their
environment has the variables of weft run that begin with WEFT_, and those that -x
names. More than 16 hosts are reached as a tree. docs/CLUSTER.md describes the rest.

EXAMPLES
  weft run -n 4 ./examples/hello
  weft run -n 2 -prefix ./examples/ping -count 1000
  weft run -n 8 -transport udp ./examples/nas/is -class W
  weft run -n 4 -pretend 2 ./examples/halo              two pretended hosts: shm and udp
  weft run -hosts a,b:4,node[01-16] -copy ./examples/halo
  weft run -hostfile hosts -per-host 2 -bind-to core ./solver
  weft run -n 4 -guard encrypt -transport udp ./examples/halo
  weft run -n 4 -timeline t.json ./examples/halo    open the file in ui.perfetto.dev
  weft run -n 4 -trace t ./examples/halo; weftlab amt advise t`

func runCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weft run", flag.ContinueOnError)
	job := launch.Job{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Report: os.Stderr}
	var f runFlags
	f.add(fs, &job)
	fs.IntVar(&job.N, "n", 0, "number of ranks (default 1, or with hosts the number of their slots)")
	fs.StringVar(&job.Transport, "transport", "auto", "auto, shm, eth, udp, tcp or fabric")
	fs.BoolVar(&job.Prefix, "prefix", false, "put [rank] before each line of output")
	fs.BoolVar(&job.Survive, "survive", false,
		"when a rank fails, let the others go on; ranks that a signal ended do not make the job fail")
	fs.IntVar(&job.Pretend, "pretend", 1,
		"pretend that the ranks are on this many hosts: rank 0 on the first, rank 1 on the second, ...")
	fs.StringVar(&job.Timeline, "timeline", "",
		"write what each rank does and when to this file, for ui.perfetto.dev; see docs/TIMELINE.md")
	fs.DurationVar(&job.Liveness, "liveness", 0,
		"silence after which a rank counts as dead (default 3s, longer with more than 16 ranks a processor; negative: never)")
	fs.DurationVar(&job.Grace, "grace", launch.DefaultGrace,
		"time that ranks have to end after Ctrl-C, another signal, -timeout or the failure of a rank before they are killed")
	fs.DurationVar(&job.Timeout, "timeout", 0, "end the job after this time (default never)")
	return &ffcli.Command{
		Name:       "run",
		ShortUsage: "weft run [FLAGS] PROGRAM [ARGS]",
		ShortHelp:  "run a program as the ranks of a job",
		LongHelp:   runHelp,
		FlagSet:    fs,
		Exec: func(ctx context.Context, args []string) error {
			named := false
			fs.Visit(func(f *flag.Flag) { named = named || f.Name == "n" })
			if named && job.N < 1 {
				return fmt.Errorf("run: -n %d: must be from 1 to %d", job.N, maxRanks)
			}
			by, err := f.apply(&job)
			if err != nil {
				return err
			}
			if f.hosts.dryRun && len(args) > 0 {
				job.Program = args[0]
				job.Args = args[1:]
				printPlan(job, by)
				return nil
			}
			return runJob(ctx, job, f.restarts, args)
		},
	}
}

// runFlags are the flags of weft run that the environment of the ranks, or their hosts, follow from.
type runFlags struct {
	hosts       hostFlags
	guard, reap string
	trace, amt  string
	page        string
	restarts    int
}

func (f *runFlags) add(fs *flag.FlagSet, job *launch.Job) {
	f.hosts.add(fs, job)
	fs.StringVar(&f.guard, "guard", "",
		"protection of packets to other hosts: checksum, authenticate or encrypt (default: what each path needs)")
	fs.StringVar(&f.reap, "reap", "on",
		"how packets are received: on polls while a call waits; off sleeps until a packet wakes the waiting call; "+
			"interrupt polls, too, and another goroutine sleeps until packets come while no call waits")
	fs.StringVar(&f.trace, "trace", "",
		"write how much each rank sends to which other to `FILE`.RANK, for weftlab amt advise")
	fs.StringVar(&f.amt, "amt", "", "receive rings of mailboxes: a file that weftlab amt advise has written")
	fs.StringVar(&f.page, "http", "",
		"serve a page about the job at this address; :8080 is port 8080 of this host only; see docs/PAGE.md")
	fs.IntVar(&f.restarts, "restart", 0,
		"when a rank has failed, start all ranks again, up to this many times; see docs/SURVIVING.md")
}

// apply completes a job by the flags. It returns what has named the hosts.
func (f *runFlags) apply(job *launch.Job) (by string, err error) {
	if f.page != "" {
		job.Page = page.At(f.page, job.Report)
	}
	switch f.reap {
	case "on":
	case "off":
		job.Env = append(job.Env, "WEFT_SPIN=0")
	case "interrupt":
		job.Env = append(job.Env, "WEFT_INTERRUPT=1")
	default:
		return "", fmt.Errorf("run: -reap %q: must be on, off or interrupt", f.reap)
	}
	switch weft.Guard(f.guard) {
	case "":
	case weft.GuardChecksum, weft.GuardAuthenticate, weft.GuardEncrypt:
		job.Env = append(job.Env, "WEFT_GUARD="+f.guard)
	default:
		return "", fmt.Errorf("run: -guard %q: must be checksum, authenticate or encrypt", f.guard)
	}
	if by, err = f.hosts.apply(job); err != nil {
		return "", err
	}
	if f.trace != "" {
		job.Env = append(job.Env, traceEnv(f.trace))
	}
	if f.amt != "" {
		env, err := amtEnv(f.amt, job.N)
		if err != nil {
			return "", err
		}
		job.Env = append(job.Env, env)
	}
	if f.restarts < 0 {
		return "", fmt.Errorf("run: -restart %d: must be 0 or more", f.restarts)
	}
	return by, nil
}

// checkTransport returns an error of a command if there is no such transport.
func checkTransport(command, name string) error {
	switch weft.Transport(name) {
	case weft.TransportAuto, weft.TransportShm, weft.TransportEth, weft.TransportUDP, weft.TransportTCP,
		weft.TransportFabric:
		return nil
	}
	return fmt.Errorf("%s: -transport %q: must be auto, shm, eth, udp, tcp or fabric", command, name)
}

// maxRanks bounds a job.
const maxRanks = 1 << 16

func runJob(ctx context.Context, job launch.Job, restarts int, args []string) error {
	if len(args) == 0 {
		return errors.New("run: which program? For example: weft run -n 4 ./examples/hello")
	}
	if err := checkTransport("run", job.Transport); err != nil {
		return err
	}
	if job.N < 1 || job.N > maxRanks {
		return fmt.Errorf("run: -n %d: must be from 1 to %d", job.N, maxRanks)
	}
	if job.Liveness > 0 && job.Liveness < weft.MinLiveness {
		return fmt.Errorf("run: -liveness %v: must be at least %v, 0 for the default, or negative for never",
			job.Liveness, weft.MinLiveness)
	}
	building, stop := cli.UntilSignal(ctx)
	program, release, err := launch.Resolve(building, args[0])
	stop()
	if err != nil {
		return err
	}
	defer release()
	job.Program = program
	job.Args = args[1:]
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGCONT, syscall.SIGWINCH)
	result, err := launch.RunAgain(ctx, job, restarts, signals)
	if err == nil && result.Status != 0 {
		err = cli.Exit(result.Status)
	}
	if interrupted := new(launch.InterruptedError); errors.As(err, &interrupted) {
		err = cli.Exit(128 + int(interrupted.Signal))
	}
	return err
}

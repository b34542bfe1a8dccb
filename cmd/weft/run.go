package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft"
	"weft/internal/launch"
)

const runHelp = `Runs PROGRAM as N processes, the ranks of one job. PROGRAM is an executable, a
command in $PATH, or a Go package such as ./examples/hello, which is built
first. Flags for weft come before PROGRAM, arguments for the program after it.

Standard input goes to rank 0. Lines of different ranks do not mix. Signals go
to all ranks; a second Ctrl-C kills them. When a rank fails, the others are
ended, and the exit status is that of the rank (128 + the signal's number if a
signal ended it). It is 124 if -timeout has ended the job, and 128 + the signal's
number if a signal to weft run has (130 after Ctrl-C), unless all ranks end well.
With -survive the others go on, and the job has succeeded if at least one rank
ended well and no rank says by its exit status that it failed.

With -restart N the job is started again when it has failed because a rank has, up
to N times: all ranks, with the same arguments, once all have ended. WEFT_RESTART
counts from 0. Standard input is for the first time only, and -timeout for all.

With -hosts or -hostfile the ranks are on these hosts, in blocks: as many on each as
it has slots (one, if the list does not say). In an allocation of Slurm, PBS, LSF or
Grid Engine its hosts are taken without a flag. weft must lie where it lies here, and
so must PROGRAM, unless -copy. Ranks run in the directory of the same name, if there
is one, with the variables that begin with WEFT_, and those that -x names. More than
16 hosts are reached as a tree. docs/CLUSTER.md tells the rest.

EXAMPLES
  weft run -n 4 ./examples/hello
  weft run -n 2 -prefix ./examples/ping -count 1000
  weft run -n 8 -transport udp ./examples/nas/is -class W
  weft run -n 4 -pretend 2 ./examples/halo    two pretended hosts: shm and udp
  weft run -hosts a,b:4,node[01-16] -copy ./examples/halo
  weft run -hostfile hosts -per-host 2 -bind-to core ./solver
  weft run -n 4 -guard encrypt -transport udp ./examples/halo
  weft run -n 4 -timeline t.perfetto ./examples/halo    for ui.perfetto.dev
  weft run -n 4 -trace t ./examples/halo; weft amt advise t`

func runCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weft run", flag.ContinueOnError)
	job := launch.Job{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Report: os.Stderr}
	fs.IntVar(&job.N, "n", 0, "number of ranks (default 1; with hosts one for each of their slots)")
	fs.StringVar(&job.Transport, "transport", "auto", "auto, shm, eth, udp or tcp")
	guard := fs.String("guard", "", "what protects packets to other hosts: checksum, authenticate or encrypt (default: as the way to each asks for)")
	reap := fs.String("reap", "on", "on: poll for packets while one waits; off: each wakes whoever waits for it; interrupt: poll, but another goroutine that sleeps brings them")
	fs.BoolVar(&job.Prefix, "prefix", false, "put [rank] before each line")
	fs.BoolVar(&job.Survive, "survive", false, "when a rank fails, let the others go on; the job succeeds without ranks that a signal ended")
	restarts := fs.Int("restart", 0, "when the job fails since a rank has, start all ranks again, up to so many times; see docs/SURVIVING.md")
	fs.IntVar(&job.Pretend, "pretend", 1, "pretend that the ranks are on so many hosts, in turn")
	var hosts hostFlags
	hosts.add(fs, &job)
	trace := fs.String("trace", "", "write what each rank sends to whom to this file, with the rank appended; see weft amt advise")
	table := fs.String("amt", "", "receive rings: a file that weft amt advise has written, or auto")
	fs.StringVar(&job.Timeline, "timeline", "", "write what each rank does and when to this file, for ui.perfetto.dev; see docs/TIMELINE.md")
	fs.StringVar(&job.HTTP, "http", "", "serve a page about the job at this address, such as :8080 (which is that port of this host only); see docs/PAGE.md")
	fs.DurationVar(&job.Liveness, "liveness", 0, "silence after which a rank counts as dead (default 3s; negative: never)")
	fs.DurationVar(&job.Grace, "grace", 2*time.Second, "time that ranks have to end before they are killed")
	fs.DurationVar(&job.Timeout, "timeout", 0, "end the job after this time (default never)")
	return &ffcli.Command{
		Name: "run", ShortUsage: "weft run [FLAGS] PROGRAM [ARGS]", ShortHelp: "run a program as the ranks of a job",
		LongHelp: runHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			switch *reap {
			case "on":
			case "off":
				job.Env = append(job.Env, "WEFT_SPIN=0")
			case "interrupt":
				job.Env = append(job.Env, "WEFT_INTERRUPT=1")
			default:
				return fmt.Errorf("run: -reap %q: must be on, off or interrupt", *reap)
			}
			switch *guard {
			case "":
			case weft.GuardChecksum, weft.GuardAuthenticate, weft.GuardEncrypt:
				job.Env = append(job.Env, "WEFT_GUARD="+*guard)
			default:
				return fmt.Errorf("run: -guard %q: must be checksum, authenticate or encrypt", *guard)
			}
			said := false
			fs.Visit(func(f *flag.Flag) { said = said || f.Name == "n" })
			if said && job.N < 1 {
				return fmt.Errorf("run: -n %d: must be from 1 to %d", job.N, mostRanks)
			}
			by, err := hosts.apply(&job)
			if err != nil {
				return err
			}
			if *trace != "" {
				job.Env = append(job.Env, traceEnv(*trace))
			}
			if *table != "" {
				env, err := amtEnv(*table, job.N)
				if err != nil {
					return err
				}
				job.Env = append(job.Env, env)
			}
			if *restarts < 0 {
				return fmt.Errorf("run: -restart %d: must be 0 or more", *restarts)
			}
			if hosts.dryRun && len(args) > 0 {
				job.Program, job.Args = args[0], args[1:]
				printPlan(job, by)
				return nil
			}
			return runJob(ctx, job, *restarts, args)
		},
	}
}

// mostRanks bounds a job.
const mostRanks = 1 << 16

func runJob(ctx context.Context, job launch.Job, restarts int, args []string) error {
	if len(args) == 0 {
		return errors.New("run: which program? For example: weft run -n 4 ./examples/hello")
	}
	switch job.Transport {
	case "auto", "shm", "eth", "udp", "tcp":
	default:
		return fmt.Errorf("run: -transport %q: must be auto, shm, eth, udp or tcp", job.Transport)
	}
	if job.N < 1 || job.N > mostRanks {
		return fmt.Errorf("run: -n %d: must be from 1 to %d", job.N, mostRanks)
	}
	if job.Liveness > 0 && job.Liveness < weft.MinLiveness {
		return fmt.Errorf("run: -liveness %v: must be at least %v, 0 for the default, or negative for never", job.Liveness, weft.MinLiveness)
	}
	building, stop := untilSignal(ctx)
	program, temp, err := launch.Resolve(building, args[0])
	stop()
	if err != nil {
		return err
	}
	if temp != "" {
		defer os.RemoveAll(temp)
	}
	job.Program, job.Args, job.Temp = program, args[1:], temp
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGCONT, syscall.SIGWINCH)
	result, err := launch.RunAgain(ctx, job, restarts, signals)
	if err == nil && result.Status != 0 {
		err = exit(result.Status)
	}
	if interrupted := new(launch.InterruptedError); errors.As(err, &interrupted) {
		err = exit(128 + int(interrupted.Signal))
	}
	return err
}

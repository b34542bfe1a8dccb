package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/cli"
	"weft/internal/launch"
	"weft/lab/stress"
)

const stressHelp = `Runs jobs of real processes whose goroutines call weft's whole API at random, while it
kills, stops and removes ranks. It checks that nothing is lost, repeated, out of order or
stuck. The calls of a job follow from a seed, which is printed when the job fails. Timing
differs from run to run, so it may take several runs of a seed to see a failure again.

For each failed job a directory keeps what was found, the calls of each goroutine, the
output of weft ps and of the ranks, and, of ranks that were stuck, the stacks.

EXAMPLES
  weftlab stress                                     a minute over every transport
  weftlab stress -for 2h -transport udp -n 6
  weftlab stress -seed 4711 -jobs 20 -transport shm  one seed again and again
  weftlab lab -hosts 2 -- weftlab stress -transport eth,udp,tcp`

func stressCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weftlab stress", flag.ContinueOnError)
	o := stress.Options{Timed: true}
	length := fs.Duration("for", time.Minute, "time after which no job is started any more")
	n := fs.Int("n", 4, "number of ranks")
	transports := fs.String("transport", "",
		"shm, udp, tcp, eth, fabric or mixed (shm and udp), several with commas (default shm,udp,tcp,mixed; in a lab eth,udp,tcp)")
	seed := fs.Uint64("seed", 0, "seed of all jobs; 0: a new seed for each job")
	jobs := fs.Int("jobs", 0, "number of jobs; 0: as many as there is time for")
	fs.StringVar(&o.Only, "only", "", "kinds of scenes, several with commas: "+strings.Join(stress.Kinds(), ","))
	fs.DurationVar(&o.Patience, "patience", 20*time.Second, "time without any progress after which a job counts as stuck")
	fs.StringVar(&o.Dir, "dir", "", "directory for reports of failures (default: that for temporary files)")
	fs.BoolVar(&o.Verbose, "v", false, "print each job's seed and plan, and what happens")
	peaceful := fs.Bool("peaceful", false, "kill, stop and remove no ranks")
	keepOn := fs.Bool("keep-on", false, "go on after a failure")
	return &ffcli.Command{
		Name:       "stress",
		ShortUsage: "weftlab stress [FLAGS]",
		ShortHelp:  "call everything at random while ranks are killed, and check the results",
		LongHelp:   stressHelp,
		FlagSet:    fs,
		Exec: func(ctx context.Context, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("stress: %q: it takes no arguments", strings.Join(args, " "))
			}
			if *n < 1 || *n > 200 {
				return fmt.Errorf("stress: -n %d: must be from 1 to 200", *n)
			}
			err := stress.CheckKinds(o.Only)
			if err != nil {
				return fmt.Errorf("stress: -only: %w", err)
			}
			if o.Program, err = os.Executable(); err != nil {
				return err
			}
			all, err := stressTransports(*transports)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
			defer stop()
			r := stressRun{o, all, *n, *seed, *jobs, *peaceful, *keepOn}
			return r.run(ctx, time.Now().Add(*length))
		},
	}
}

func stressTransports(text string) (all []string, err error) {
	lab, err := launch.LabHosts()
	if err != nil {
		return nil, err
	}
	switch {
	case text == "" && len(lab) > 0:
		text = "eth,udp,tcp"
	case text == "":
		text = "shm,udp,tcp,mixed"
	}
	for _, t := range strings.Split(text, ",") {
		switch t {
		case "shm", "udp", "tcp", "eth", "fabric", "mixed":
			all = append(all, t)
		default:
			return nil, fmt.Errorf("stress: -transport %q: must be shm, udp, tcp, eth, fabric or mixed", t)
		}
	}
	return all, nil
}

type stressRun struct {
	stress.Options
	transports       []string
	n                int
	seed             uint64
	jobs             int
	peaceful, keepOn bool
}

func (r stressRun) run(ctx context.Context, end time.Time) error {
	failed := 0
	done := 0
	for ; ctx.Err() == nil && time.Now().Before(end) && (r.jobs == 0 || done < r.jobs); done++ {
		seed := r.seed
		if seed == 0 {
			seed = uint64(time.Now().UnixNano()) % 1_000_000_000
		}
		name := r.transports[done%len(r.transports)]
		transport := name
		hosts := 1
		if name == "mixed" {
			transport = "auto"
			hosts = 2
		}
		plan := stress.Draw(seed, r.n, transport, hosts)
		if r.peaceful {
			plan.Strikes = nil
		}
		if r.Verbose {
			fmt.Printf("seed %d, %s: %+v\n", seed, name, plan)
		}
		f, err := stress.Run(ctx, plan, r.Options)
		if err != nil {
			return err
		}
		if f == nil || ctx.Err() != nil {
			continue
		}
		failed++
		fmt.Printf("seed %d over %s:\n  %s\nkept in %s; again: weftlab stress -seed %d -n %d -transport %s -jobs 20\n",
			seed, name, strings.Join(f.Found, "\n  "), f.Dir, seed, r.n, name)
		if !r.keepOn {
			break
		}
	}
	fmt.Printf("%d jobs, %d failed\n", done, failed)
	if failed > 0 {
		return cli.Exit(1)
	}
	return nil
}

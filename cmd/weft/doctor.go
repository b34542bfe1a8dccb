package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft"
	"weft/internal/bootstrap"
	"weft/internal/bootstrap/environment"
	"weft/internal/cli"
	"weft/internal/doctor"
	"weft/internal/launch"
)

const doctorHelp = `Checks whether hosts are fit for weft, and prints a page about them. It starts one rank
on each host (two ranks on this host if there is no other), and looks at limits,
privileges, kernel and interfaces. Then it measures each pair of ranks for a tenth of a
second: transport, packet length, latency, bandwidth, and how far apart their clocks
are. It lists what is wrong, what is slow and what differs between the hosts, each with
what to do about it.

The exit status is 1 if something would stop a job.

weft doctor can also be the program of a job: started as a rank by weft run, mpiexec,
srun or Kubernetes (docs/LAUNCHERS.md), it examines the ranks of that job, and rank 0
prints the page.

EXAMPLES
  weft doctor
  weft doctor -hosts a,b,node[01-16]
  weftlab lab -hosts 3 -- weft doctor
  srun -N 8 weft doctor
  weft k8s -n 8 -image registry.example/weft:1 -- /program doctor | kubectl apply -f -
  weft doctor -json | jq '.findings[] | select(.weight == "stops")'`

// doctorFlags are the flags of weft doctor.
type doctorFlags struct {
	n         int
	hosts     hostFlags
	job       launch.Job
	transport string
	json      bool
}

func doctorCommand() *ffcli.Command {
	f := doctorFlags{hosts: hostFlags{bindTo: "part", perHost: 1}}
	fs := flag.NewFlagSet("weft doctor", flag.ContinueOnError)
	fs.StringVar(&f.hosts.list, "hosts", "",
		"hosts to check, such as a,b,node[01-16] (default: those of the batch system's allocation, or this host)")
	fs.StringVar(&f.hosts.file, "hostfile", "", "file with one host on each line")
	fs.StringVar(&f.hosts.rsh, "rsh", "", rshUsage)
	fs.BoolVar(&f.job.Copy, "copy", false, "copy weft to hosts that do not have it, and remove it afterwards")
	fs.IntVar(&f.n, "n", 0, "number of ranks (default: one on each host, or two if there is one host)")
	fs.StringVar(&f.transport, "transport", "auto", "auto, shm, eth, udp, tcp or fabric")
	fs.BoolVar(&f.json, "json", false, "print one JSON object")
	return &ffcli.Command{
		Name:       "doctor",
		ShortUsage: "weft doctor [FLAGS]",
		ShortHelp:  "check whether hosts are fit for weft, and say what to improve",
		LongHelp:   doctorHelp,
		FlagSet:    fs,
		Exec: func(ctx context.Context, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("doctor: what is %q? Flags begin with -", args[0])
			}
			return f.run(ctx)
		},
	}
}

// maxDoctorRanks bounds the ranks of weft doctor, which measures every pair of them.
const maxDoctorRanks = 256

func (f *doctorFlags) run(ctx context.Context) error {
	if err := checkTransport("doctor", f.transport); err != nil {
		return err
	}
	if started() {
		if f.n != 0 || f.transport != "auto" {
			return errors.New("doctor: this process is a rank already; " +
				"-n and -transport are for a job that weft doctor starts itself")
		}
		f.join() // does not return
	}
	if err := f.place(); err != nil {
		return err
	}
	report, err := f.examine(ctx)
	if err == nil {
		err = f.tell(report)
	}
	if err == nil && report.Stops() {
		err = cli.Exit(1)
	}
	return err
}

// place decides how many ranks each host gets: by default one on each of several hosts, or two on this one.
func (f *doctorFlags) place() error {
	if f.n < 0 || f.n > maxDoctorRanks {
		return fmt.Errorf("doctor: -n %d: must be from 1 to %d", f.n, maxDoctorRanks)
	}
	if f.n > 0 {
		f.hosts.perHost = 0 // the hosts' slots decide
	}
	f.job.N = f.n
	if _, err := f.hosts.apply(&f.job); err != nil {
		return fmt.Errorf("doctor: %s", strings.TrimPrefix(err.Error(), "run: "))
	}
	if len(f.job.Hosts) == 0 && f.n == 0 {
		lab, err := launch.LabHosts()
		if err != nil {
			return err
		}
		f.job.N = max(len(lab), 2)
	}
	f.n = f.job.N
	if f.n > maxDoctorRanks {
		return fmt.Errorf("doctor: %d hosts: must be at most %d", f.n, maxDoctorRanks)
	}
	return nil
}

// tell draws conclusions from a report, and prints it.
func (f *doctorFlags) tell(report *doctor.Report) error {
	report.Diagnose()
	if f.json {
		return json.NewEncoder(os.Stdout).Encode(report)
	}
	return report.WriteText(os.Stdout)
}

// started reports whether a launcher has started this process as a rank.
func started() bool {
	if os.Getenv(bootstrap.Env) != "" {
		return true
	}
	plan, err := environment.Recognize(environment.ThisProcess())
	return err != nil || plan.Way.Name != environment.None // weft.Main reports the error
}

// errStops makes a job of weft doctor fail.
var errStops = errors.New("doctor: something would stop a job")

// join makes this process a rank of a job that another launcher has started. It does not return.
func (f *doctorFlags) join() {
	weft.Main(func(ctx context.Context, p *weft.Proc) error {
		mine, err := examined(ctx, p)
		if err != nil {
			return err
		}
		report, err := doctor.Gather(ctx, p, mine)
		if err != nil || report == nil {
			return err
		}
		if err := f.tell(report); err != nil {
			return err
		}
		if report.Stops() {
			return errStops
		}
		return nil
	})
	os.Exit(0)
}

// examined returns what this rank finds out.
func examined(ctx context.Context, p *weft.Proc) (r doctor.Rank, err error) {
	r = doctor.Rank{Rank: p.Rank(), Host: doctor.Examine(p.Host(), build())}
	r.Peers, err = doctor.Measure(ctx, p)
	return r, err
}

// examine starts the ranks and returns what they have found out.
func (f *doctorFlags) examine(ctx context.Context) (*doctor.Report, error) {
	f.job.Transport = f.transport
	f.job.Timeout = time.Minute + time.Duration(f.n)*time.Second
	ranks, err := askRanks(ctx, "doctor", f.job, func(r doctor.Rank) int { return r.Rank })
	return &doctor.Report{Ranks: ranks}, err
}

// tellExamined is what a rank of such a job does.
func tellExamined(ctx context.Context, p *weft.Proc) error {
	r, err := examined(ctx, p)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

package main

import (
	"bytes"
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
	"weft/internal/doctor"
	"weft/internal/launch"
)

const doctorHelp = `Tells in a page what hosts give to weft: it starts a rank on each (without other hosts
two ranks on this one), looks at limits, privileges, kernel and interfaces, and
measures the way between each two for a tenth of a second: transport, packet length,
latency, bandwidth, and how far their clocks are apart. What is wrong, slow, or not
alike on all hosts is listed, each with what to do about it.

The exit status is 1 if something would stop a job.

EXAMPLES
  weft doctor
  weft doctor -svg hosts.svg              with a picture of all pairs
  weft lab -hosts 3 -- weft doctor
  weft doctor -json | jq '.findings[] | select(.weight == "stops")'`

// envDoctor tells an executable that it is a rank of weft doctor.
const envDoctor = "WEFT_DOCTOR"

// doctorFlags are the flags of weft doctor.
type doctorFlags struct {
	n         int
	transport string
	svg       string
	json      bool
}

func doctorCommand() *ffcli.Command {
	var f doctorFlags
	fs := flag.NewFlagSet("weft doctor", flag.ContinueOnError)
	fs.IntVar(&f.n, "n", 0, "number of ranks (default: one on each host, and two if there is one host)")
	fs.StringVar(&f.transport, "transport", "auto", "auto, shm, eth, udp or tcp")
	fs.StringVar(&f.svg, "svg", "", "draw latency and bandwidth of all pairs to this file")
	fs.BoolVar(&f.json, "json", false, "print one JSON object")
	return &ffcli.Command{
		Name: "doctor", ShortUsage: "weft doctor [FLAGS]", ShortHelp: "what hosts give to weft, what is missing, and what to do about it",
		LongHelp: doctorHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("doctor: what is %q? Flags begin with -", args[0])
			}
			return f.run(ctx)
		},
	}
}

// mostDoctorRanks is how many ranks are measured: it is all pairs of them.
const mostDoctorRanks = 256

func (f *doctorFlags) run(ctx context.Context) error {
	if f.n == 0 {
		hosts, err := launch.LabHosts()
		if err != nil {
			return err
		}
		f.n = max(len(hosts), 2)
	}
	if f.n < 1 || f.n > mostDoctorRanks {
		return fmt.Errorf("doctor: -n %d: must be from 1 to %d", f.n, mostDoctorRanks)
	}
	switch f.transport {
	case "auto", "shm", "eth", "udp", "tcp":
	default:
		return fmt.Errorf("doctor: -transport %q: must be auto, shm, eth, udp or tcp", f.transport)
	}
	report, err := f.examine(ctx)
	if err != nil {
		return err
	}
	report.Diagnose()
	if f.svg != "" {
		if err := drawPairs(f.svg, report); err != nil {
			return err
		}
	}
	if f.json {
		err = json.NewEncoder(os.Stdout).Encode(report)
	} else {
		err = report.WriteText(os.Stdout)
	}
	if err == nil && report.Stops() {
		err = exit(1)
	}
	return err
}

// examine starts the ranks and returns what they have found out.
func (f *doctorFlags) examine(ctx context.Context) (*doctor.Report, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, stop := untilSignal(ctx)
	defer stop()
	var out, said bytes.Buffer
	result, err := launch.Run(ctx, launch.Job{
		Program: self, N: f.n, Transport: f.transport, Timeout: time.Minute + time.Duration(f.n)*time.Second,
		Stdout: &out, Stderr: &said, Report: &said, Env: []string{envDoctor + "=1"},
	}, nil)
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	if err == nil && result.Status != 0 {
		err = fmt.Errorf("doctor: a job does not run here: %s", strings.TrimSpace(said.String()))
	}
	if err != nil {
		return nil, err
	}
	report := &doctor.Report{Ranks: make([]doctor.Rank, f.n)}
	for line := range bytes.Lines(out.Bytes()) {
		var r doctor.Rank
		if err := json.Unmarshal(line, &r); err != nil || r.Rank < 0 || r.Rank >= f.n {
			return nil, errors.Join(fmt.Errorf("doctor: a rank said %q", line), err)
		}
		report.Ranks[r.Rank] = r
	}
	return report, nil
}

// doctorRank is the main function of a rank of weft doctor, if this process is one.
func doctorRank() bool {
	if os.Getenv(envDoctor) == "" {
		return false
	}
	weft.Main(func(ctx context.Context, p *weft.Proc) error {
		r := doctor.Rank{Rank: p.Rank(), Host: doctor.Examine(p.Host(), build())}
		var err error
		if r.Peers, err = doctor.Measure(ctx, p); err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(r)
	})
	return true
}

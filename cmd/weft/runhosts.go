package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"weft/internal/hostlist"
	"weft/internal/launch"
)

// hostFlags are the flags that say on which hosts a job runs, and by which command they are reached.
type hostFlags struct {
	list, file string
	rsh        string
	perHost    int
	fanout     int
	bindTo     string
	export     exports
	dryRun     bool
}

func (f *hostFlags) add(fs *flag.FlagSet, job *launch.Job) {
	fs.StringVar(&f.list, "hosts", "", "hosts for the ranks, such as a,b:4,node[01-16]; b:4 has 4 slots")
	fs.StringVar(&f.file, "hostfile", "", "file with one host on each line, such as: b slots=4")
	fs.StringVar(&f.rsh, "rsh", "", rshUsage)
	fs.IntVar(&f.perHost, "per-host", 0, "ranks on each host, instead of one for each of its slots")
	fs.BoolVar(&job.Copy, "copy", false, "copy the program to hosts that do not have it, and remove it after the job")
	fs.StringVar(&f.bindTo, "bind-to", "part",
		"part: divide the processors of a host among its ranks, if they are enough; core: a core for each; none: do not bind")
	fs.Var(&f.export, "x", "environment variable for the ranks, NAME=value, or NAME with its value here; may be repeated")
	fs.IntVar(&f.fanout, "fanout", 0, "hosts that one host reaches directly; more are reached through those (default 16)")
	fs.BoolVar(&f.dryRun, "dry-run", false, "print which ranks would run on which host, and start nothing")
}

const rshUsage = "command that runs a command line on another host; the host and the command line are appended " +
	"(default ssh, or srun in an allocation of Slurm)"

// exports are the variables that -x names.
type exports []string

func (e *exports) String() string { return strings.Join(*e, " ") }

// Set adds a variable.
func (e *exports) Set(text string) error {
	name, _, has := strings.Cut(text, "=")
	if name == "" {
		return errors.New("must be NAME=value or NAME")
	}
	if !has {
		value, set := os.LookupEnv(name)
		if !set {
			return fmt.Errorf("%s is not set here", name)
		}
		text = name + "=" + value
	}
	*e = append(*e, text)
	return nil
}

// apply sets the hosts of a job, how many ranks each has, and the command that reaches them. It returns what has named
// the hosts.
func (f *hostFlags) apply(job *launch.Job) (by string, err error) {
	job.Env = append(job.Env, f.export...)
	if job.Bind, err = launch.ParseBinding(f.bindTo); err != nil {
		return "", fmt.Errorf("run: %w", err)
	}
	if f.perHost < 0 || f.fanout < 0 {
		return "", fmt.Errorf("run: -per-host %d, -fanout %d: must not be negative", f.perHost, f.fanout)
	}
	hosts, by, err := f.hosts(job)
	if err != nil || len(hosts) == 0 {
		if job.N == 0 {
			job.N = max(f.perHost, 1)
		}
		return by, err
	}
	if job.Counts, err = launch.Spread(hosts, job.N, f.perHost); err != nil {
		return "", err
	}
	job.N = 0
	for _, n := range job.Counts {
		job.N += n
	}
	job.Hosts = hosts
	job.Fanout = f.fanout
	job.Version = version()
	job.Env = append(forwarded(), job.Env...)
	if job.Way, err = f.way(by); err != nil {
		return "", err
	}
	job.Agent, err = os.Executable()
	return by, err
}

// hosts returns the hosts that the flags name, or else those of the batch system's allocation that this process runs
// in, and what has named them.
func (f *hostFlags) hosts(job *launch.Job) (hosts []hostlist.Host, by string, err error) {
	switch {
	case f.list != "" && f.file != "":
		return nil, "", errors.New("run: -hosts and -hostfile are both given: which of the two?")
	case (f.list != "" || f.file != "") && job.Pretend > 1:
		return nil, "", errors.New("run: -pretend is for ranks that all run on this host, without -hosts or -hostfile")
	case f.list != "":
		hosts, err = hostlist.Parse(f.list)
		return hostlist.Merge(hosts), "-hosts", err
	case f.file != "":
		in, err := os.Open(f.file)
		if err != nil {
			return nil, "", fmt.Errorf("run: -hostfile: %w", err)
		}
		defer in.Close()
		hosts, err = hostlist.ParseFile(f.file, in)
		return hostlist.Merge(hosts), "-hostfile", err
	case job.Pretend > 1:
		return nil, "", nil
	}
	a, err := hostlist.Allocated(os.Getenv)
	if os.Getenv(launch.EnvLab) == "" {
		return a.Hosts, a.By, err
	}
	if err == nil && len(a.Hosts) > 0 {
		fmt.Fprintf(os.Stderr, "weft: %s is set, so the ranks run on the hosts of the lab, and not on the %d hosts "+
			"that %s has allotted\n", launch.EnvLab, len(a.Hosts), a.By)
	}
	return nil, "", nil
}

// way returns the command that reaches other hosts.
func (f *hostFlags) way(by string) (launch.Way, error) {
	if f.rsh != "" {
		words := strings.Fields(f.rsh)
		if len(words) == 0 {
			return launch.Way{}, errors.New("run: -rsh: which command?")
		}
		return launch.Way{Command: words, Shell: true}, nil
	}
	if by == "Slurm" {
		if _, err := exec.LookPath("srun"); err == nil {
			return launch.Way{Command: strings.Fields(srun)}, nil
		}
	}
	return launch.Way{Command: []string{"ssh", "-x", "-o", "BatchMode=yes"}, Shell: true}, nil
}

// srun starts an agent as a job step of its own, with all processors that the job has on the node. It may overlap the
// step that this process belongs to.
const srun = "srun --quiet --mpi=none --overlap --nodes=1 --ntasks=1 --cpu-bind=none --kill-on-bad-exit=1 " +
	"--unbuffered -w"

// forwarded returns the variables of this environment that ranks on other hosts get without -x. These are the variables
// that configure weft or the Go runtime, except variables that have a meaning on this host only.
func forwarded() (env []string) {
	local := map[string]bool{"WEFT_FD": true, "WEFT_LAB": true}
	runtime := map[string]bool{"GOMAXPROCS": true, "GOGC": true, "GOMEMLIMIT": true, "GODEBUG": true, "GOTRACEBACK": true}
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		if strings.HasPrefix(name, "WEFT_") && !local[name] || runtime[name] {
			env = append(env, e)
		}
	}
	return env
}

// printPlan prints which ranks would be started on which host.
func printPlan(job launch.Job, by string) {
	fmt.Printf("%d ranks of %s", job.N, strings.Join(append([]string{job.Program}, job.Args...), " "))
	if len(job.Hosts) == 0 {
		fmt.Println(" here")
		return
	}
	fmt.Printf(" on the hosts of %s, by %s\n", by, strings.Join(job.Way.Command, " "))
	first := 0
	for i, h := range job.Hosts {
		switch n := job.Counts[i]; n {
		case 0:
			fmt.Printf("%s: none\n", h.Name)
		case 1:
			fmt.Printf("%s: rank %d\n", h.Name, first)
		default:
			fmt.Printf("%s: ranks %d-%d\n", h.Name, first, first+n-1)
		}
		first += job.Counts[i]
	}
}

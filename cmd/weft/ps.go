package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/launch"
	"weft/internal/top"
	"weft/internal/waitgraph"
)

const psHelp = `Shows what the ranks of running jobs wait for, and for how long: which rank holds
each lock, which ranks have asked for it, and deadlocks (ranks that all wait for one
another). It shows all jobs whose weft run is on this machine, and all jobs of
another launcher whose rank 0 is. PID selects one: the process number of its weft
run, or of its rank 0.

It also shows the processes that listen for streams on this machine, in this network
namespace, with their open connections: the process at the other end and its user,
the connection's age, its bytes, and what neither side has read yet. PID selects one.

weft ps asks the ranks through that process, and changes nothing. A wait is shown
once it lasts longer than a rank polls. kill -QUIT PID prints the same before it ends
the job, with the stacks of its goroutines.

EXAMPLES
  weft ps
  weft ps 4711
  weft ps -json | jq '.deadlocks'`

func psCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weft ps", flag.ContinueOnError)
	asJSON := fs.Bool("json", false, "print one JSON object for each job")
	return &ffcli.Command{
		Name:       "ps",
		ShortUsage: "weft ps [-json] [PID]",
		ShortHelp:  "show what the ranks of running jobs wait for",
		LongHelp:   psHelp,
		FlagSet:    fs,
		Exec:       func(_ context.Context, args []string) error { return ps(args, *asJSON) },
	}
}

func ps(args []string, asJSON bool) error {
	pid := 0
	if len(args) > 0 {
		var err error
		if pid, err = strconv.Atoi(args[0]); err != nil || pid < 1 || len(args) > 1 {
			return fmt.Errorf("ps: %q: it takes one process number, of a weft run or of a rank 0", strings.Join(args, " "))
		}
	}
	servers, failed := top.Servers(pid)
	jobs, err := launch.Jobs(pid)
	if len(servers) > 0 && len(jobs) == 0 && pid != 0 {
		err = nil // the process is a server
	}
	err = errors.Join(err, failed)
	for i, j := range jobs {
		g := waitgraph.New(j.Ranks)
		if asJSON {
			for r := range g.Ranks {
				g.Ranks[r].Counts = nil // for weft top
			}
			err := json.NewEncoder(os.Stdout).Encode(map[string]any{
				"pid": j.PID, "by": j.By, "program": j.Program, "args": j.Args, "started": j.Started,
				"restart": j.Restart, "ranks": g.Ranks, "deadlocks": g.Deadlocks,
			})
			if err != nil {
				return err
			}
			continue
		}
		if i > 0 {
			fmt.Println()
		}
		restart := ""
		if j.Restart > 0 {
			restart = fmt.Sprintf(", restart %d", j.Restart)
		}
		launcher := "weft run"
		if j.By != "" {
			launcher = "rank 0, started by " + j.By + ", is process"
		}
		command := strings.Join(append([]string{filepath.Base(j.Program)}, j.Args...), " ")
		age := time.Since(j.Started).Round(time.Second)
		fmt.Printf("%s %d: %s, %d ranks%s, for %v\n", launcher, j.PID, command, len(j.Ranks), restart, age)
		if err := g.WriteText(os.Stdout); err != nil {
			return err
		}
	}
	if asJSON {
		out := json.NewEncoder(os.Stdout)
		for _, k := range servers {
			if err := out.Encode(k); err != nil {
				return err
			}
		}
		return err
	}
	if len(jobs)+len(servers) == 0 && err == nil {
		fmt.Println(top.Nothing)
	}
	if len(jobs) > 0 && len(servers) > 0 {
		fmt.Println()
	}
	return errors.Join(err, (&top.Sample{Servers: servers}).WriteText(os.Stdout, top.View{}))
}

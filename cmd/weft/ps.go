package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/launch"
	"weft/internal/waitgraph"
)

const psHelp = `Shows the jobs of which weft run, or rank 0 if others have started the job, is on
this machine: what every rank waits for and since when, who holds which lock and who
has asked for it, and deadlocks: ranks of which none can go on before another of them
does. PID is that of the weft run, or of rank 0; without it all jobs are shown.

It asks the ranks through that process, and changes nothing. A wait shows when it has
lasted longer than a rank polls. kill -QUIT of that process prints the same, before
its ranks, or the process itself, end with their stacks.

EXAMPLES
  weft ps
  weft ps 4711
  weft ps -json | jq '.deadlocks'`

func psCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weft ps", flag.ContinueOnError)
	asJSON := fs.Bool("json", false, "print one JSON object a job")
	return &ffcli.Command{
		Name: "ps", ShortUsage: "weft ps [-json] [PID]", ShortHelp: "show what running jobs wait for", LongHelp: psHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error { return ps(args, *asJSON) },
	}
}

func ps(args []string, asJSON bool) error {
	pid := 0
	if len(args) > 0 {
		var err error
		if pid, err = strconv.Atoi(args[0]); err != nil || pid < 1 || len(args) > 1 {
			return fmt.Errorf("ps: %q: it takes the process number of one weft run, or rank 0", strings.Join(args, " "))
		}
	}
	jobs, err := launch.Jobs(pid)
	for i, j := range jobs {
		g := waitgraph.New(j.Ranks)
		if asJSON {
			for r := range g.Ranks {
				g.Ranks[r].Counts = nil // for weft top
			}
			err := json.NewEncoder(os.Stdout).Encode(map[string]any{
				"pid": j.PID, "by": j.By, "program": j.Program, "args": j.Args, "started": j.Started, "restart": j.Restart, "ranks": g.Ranks, "deadlocks": g.Deadlocks,
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
		who := "weft run"
		if j.By != "" {
			who = "rank 0, started by " + j.By + ", is process"
		}
		fmt.Printf("%s %d: %s, %d ranks%s, for %v\n", who, j.PID,
			strings.Join(append([]string{filepath.Base(j.Program)}, j.Args...), " "), len(j.Ranks), restart, time.Since(j.Started).Round(time.Second))
		if err := g.WriteText(os.Stdout); err != nil {
			return err
		}
	}
	if len(jobs) == 0 && err == nil && !asJSON {
		fmt.Println("no job runs here")
	}
	return err
}

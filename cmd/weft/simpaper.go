package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/sim/paper"
)

const simPaperHelp = `Prints models of the papers' hardware: each part of a message's way with the
source of its value, and what comes of them beside what the papers measured. An
agreement is "predicted" if the paper measured the figure independently, "by
construction" if it got a part by subtracting from it. What the parts leave
unexplained is a "residual", and is never fed back.

EXAMPLES
  weft sim paper -table pmethernet
  weft sim paper -table dimmnet -json`

func simPaperCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weft sim paper", flag.ContinueOnError)
	table := fs.String("table", "all", "pmethernet, dimmnet or all")
	asJSON := fs.Bool("json", false, "print one object for each figure")
	return &ffcli.Command{
		Name: "paper", ShortUsage: "weft sim paper [-table NAME] [-json]", ShortHelp: "the papers' hardware, part by part",
		LongHelp: simPaperHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error { return simPaper(*table, *asJSON) },
	}
}

func simPaper(name string, asJSON bool) error {
	var names []string
	found := false
	for _, t := range paper.Tables() {
		names = append(names, t.Name)
		if name != "all" && name != t.Name {
			continue
		}
		found = true
		if !asJSON {
			if err := t.WriteText(os.Stdout); err != nil {
				return err
			}
			continue
		}
		for _, r := range t.Results {
			o := map[string]any{"table": t.Name, "what": strings.TrimSpace(r.What), "model": r.Model.V, "unit": r.Unit, "kind": r.Kind(), "note": r.Note}
			if r.Says != paper.Residual {
				o["paper"] = r.Paper
			}
			if err := json.NewEncoder(os.Stdout).Encode(o); err != nil {
				return err
			}
		}
	}
	if !found {
		return fmt.Errorf("sim paper: there is no table %q; there are %s and all", name, strings.Join(names, ", "))
	}
	return nil
}

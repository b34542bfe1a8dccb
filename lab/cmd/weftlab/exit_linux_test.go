package main

import (
	"errors"
	"io/fs"
	"os/exec"
	"testing"

	"weft/internal/cli"
)

// weftlab lab ends as the program that it runs does.
func TestExitOf(t *testing.T) {
	for script, want := range map[string]error{
		"true": nil, "exit 3": cli.Exit(3), "kill -TERM $$": cli.Exit(128 + 15), "kill -KILL $$": cli.Exit(128 + 9),
	} {
		if err := exitOf(exec.Command("sh", "-c", script).Run()); err != want {
			t.Errorf("%s: %v, want %v", script, err, want)
		}
	}
	if err := exitOf(exec.Command("/nowhere/program").Run()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a program that there is not: %v", err)
	}
}

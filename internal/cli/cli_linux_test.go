package cli

import (
	"errors"
	"io/fs"
	"os/exec"
	"testing"
)

// weftlab lab and weft sim end as the programs that they run do.
func TestExitOf(t *testing.T) {
	for script, want := range map[string]error{
		"true": nil, "exit 3": Exit(3), "kill -TERM $$": Exit(128 + 15), "kill -KILL $$": Exit(128 + 9),
	} {
		if err := ExitOf(exec.Command("sh", "-c", script).Run()); err != want {
			t.Errorf("%s: %v, want %v", script, err, want)
		}
	}
	if err := ExitOf(exec.Command("/nowhere/program").Run()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a program that there is not: %v", err)
	}
}

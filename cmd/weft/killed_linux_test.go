package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"weft/internal/waittest"
)

// TestKilledCommand: when weft is killed, the program or the go command that it has started ends, and the directory
// that it has built in is removed. The process that must end holds a pipe open for writing, so its first bytes tell
// that it runs, and the end of the pipe tells that it has ended.
func TestKilledCommand(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	held := filepath.Join(t.TempDir(), "held")
	if err := unix.Mkfifo(held, 0o600); err != nil {
		t.Fatal(err)
	}
	holds := "#!/bin/sh\nexec > '" + held + "'\necho running\nexec sleep 600\n"
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte(holds), 0o700); err != nil {
		t.Fatal(err)
	}
	builds := "#!/bin/sh\nwhile [ \"$1\" != -o ]; do shift; done\nexec cp '" + program + "' \"$2\"\n"
	t.Run("sim", func(t *testing.T) { killed(t, temp, held, builds) })
	t.Run("build", func(t *testing.T) { killed(t, temp, held, holds) })
}

// killed kills weft sim once a process that it has started has written to held. A script stands for the go command.
func killed(t *testing.T, temp, held, script string) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	commands := t.TempDir()
	if err := os.WriteFile(filepath.Join(commands, "go"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", commands+":"+os.Getenv("PATH"))
	cmd := exec.Command(self, "sim", "-n", "4", "../../examples/halo")
	cmd.Env = append(os.Environ(), envCommand+"=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(held)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	_ = from.SetReadDeadline(waittest.End())
	in := bufio.NewReader(from)
	if _, err := in.Peek(1); err != nil {
		t.Fatalf("it does not run: %v", err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it has been killed
	if _, err := io.Copy(io.Discard, in); err != nil {
		t.Errorf("it still runs: %v", err)
	}
	waittest.Until(t, "the end of the directory", func() bool {
		left, err := filepath.Glob(filepath.Join(temp, "weft-run-*"))
		return err == nil && len(left) == 0
	})
}

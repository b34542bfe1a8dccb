// Package programtest makes the programs that tests start, and hears what commands say that need no process of their
// own. The go command keeps each program, so the tests of all packages link it once.
package programtest

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"testing"
)

// Make puts the program of a package into a directory, and returns its file. Flags are those of go run.
func Make(t testing.TB, dir, pkg string, flags ...string) string {
	t.Helper()
	// To run a program is the one way to have it linked and kept: here cp runs, with the program as its last argument.
	args := slices.Concat([]string{"run"}, flags, []string{"-exec", "cp -t '" + dir + "'", pkg})
	if text, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", pkg, err, text)
	}
	return filepath.Join(dir, path.Base(pkg))
}

// Said returns what a command says on standard error in this process, and its exit status.
func Said(t testing.TB, command func() (status int)) (stderr string, status int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "stderr")
	said, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	was := os.Stderr
	os.Stderr = said
	status = command()
	os.Stderr = was
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), status
}

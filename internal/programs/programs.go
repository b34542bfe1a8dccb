// Package programs makes the programs that tests start. The go command keeps each, so the tests of all packages link it
// once.
package programs

import (
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

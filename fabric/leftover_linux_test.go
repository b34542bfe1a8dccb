package fabric

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"weft/internal/sys"
)

// Files of processes that have ended are removed: those of a number that another process has by now, too. Files of
// processes that run, of other namespaces, and of others than weft stay.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	const none = 1 << 30 // no process has this number
	stays := map[string]bool{
		ownFiles() + ":0:0":                true,
		filesOf(none, "17") + ":0:0":       false,
		filesOf(os.Getpid(), "1") + ":0:1": false,
		"weft-1-99999999-17:0:0":           true,
		"99999999:0:0":                     true,
		"weft-of-something-else:0":         true,
	}
	for name := range stays {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	removeLeftovers(dir)
	for name, want := range stays {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s stays: %v", name, err == nil)
		}
	}
}

// The endpoint of a rank that is killed leaves its file, and the next rank that starts removes it.
func TestKilledLeavesNothing(t *testing.T) {
	need(t)
	if !slices.Contains(providers, "shm") {
		t.Skip("these tests are about another provider")
	}
	j := start(t, "shm", "wait")
	for rank := range 3 {
		if err := j.Await(t.Context(), rank, "all are there"); err != nil {
			t.Fatal(err)
		}
	}
	pid := j.PID(1)
	started, err := sys.Started(pid)
	if err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(sharedFiles, filesOf(pid, started)+":*")
	if files, _ := filepath.Glob(left); len(files) == 0 {
		t.Fatalf("no %s", left)
	}
	j.Kill(1)
	if err := j.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	removeLeftovers(sharedFiles)
	if files, _ := filepath.Glob(left); len(files) > 0 {
		t.Errorf("left: %v", files)
	}
}

package main

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// What takes long says what it does also where standard error is no terminal, every ten seconds.
func TestProgressWithoutTerminal(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	was := os.Stderr
	os.Stderr = file
	defer func() { os.Stderr = was }()
	synctest.Test(t, func(t *testing.T) {
		say := progress()
		for round := range 5 {
			say(round, "weft")
			time.Sleep(6 * time.Second)
		}
		progressEnds()
	})
	got, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	if want := "  12s  round 3: weft\n  24s  round 5: weft\n"; string(got) != want {
		t.Errorf("%q, want %q", got, want)
	}
}

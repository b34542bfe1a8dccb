package mpi

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A tuning table has lines of five fields, whose mistakes are told with their line. Lines of other places do not count.
func TestTuningTable(t *testing.T) {
	for text, want := range map[string]string{
		"any Barrier any any board": "", "# only this\n\n": "", "host Broadcast 0 any messages # so few": "",
		"any Barrier any any":              `line 1 of the tuning table, "any Barrier any any": it must have`,
		"any Barrier any any board board":  "it must have a place",
		"\nhere Barrier any any board":     "line 2 ",
		"here Barrier any any board":       "the place must be any, host, apart or network",
		"any Party any any board":          "there is no such operation",
		"any Barrier some any board":       `"some" must be a number`,
		"any Barrier any -1 board":         `"-1" must be a number`,
		"network Barrier any any nonsense": "Barrier has no algorithm nonsense",
	} {
		_, err := parseRules(strings.Replace(text, "messages", Algorithms()[OpBroadcast][0], 1), true)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	const text = "any Barrier 1 2 board\nhost Barrier 3 any board\napart Barrier 4 any board\n" +
		"network Barrier 5 any board\nany AllGather 6 7 board"
	for oneHost, members := range map[bool][]int{true: {1, 3, 4}, false: {1, 5}} {
		all, err := parseRules(text, oneHost)
		if err != nil {
			t.Fatal(err)
		}
		if len(all[OpBarrier]) != len(members) || len(all[OpSplit]) != 1 || all[OpSplit][0].bytes != 7 {
			t.Fatalf("one host %t: %+v", oneHost, all)
		}
		for i, r := range all[OpBarrier] {
			if r.members != members[i] || r.apart != (members[i] == 4) || (r.bytes == 2) != (i == 0) {
				t.Errorf("one host %t: line %d is %+v", oneHost, i, r)
			}
		}
	}
	name := filepath.Join(t.TempDir(), "table")
	t.Setenv(envTuning, name)
	if _, err := readRules(true); err == nil || !strings.Contains(err.Error(), envTuning) {
		t.Errorf("a table that is not there: %v", err)
	}
	if err := os.WriteFile(name, []byte("any Barrier 9 any board"), 0o666); err != nil {
		t.Fatal(err)
	}
	if all, err := readRules(true); err != nil || len(all[OpBarrier]) != 1 || all[OpBarrier][0].members != 9 {
		t.Errorf("%+v, %v", all[OpBarrier], err)
	}
}

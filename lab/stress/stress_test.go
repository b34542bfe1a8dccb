//go:build linux

package stress_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"weft/internal/explore"
	"weft/internal/launch"
	"weft/lab/stress"
)

// The test's executable is also its ranks, and its guard.
func TestMain(m *testing.M) {
	launch.Guarded()
	if stress.Rank() {
		return
	}
	os.Exit(m.Run())
}

func options(t *testing.T) stress.Options {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return stress.Options{Program: self, Patience: time.Minute}
}

// Ranks that are processes do everything at random over every transport while some are struck, and weft keeps its
// promises. Timing differs from run to run, so this only explores; weftlab stress runs job after job.
func TestStress(t *testing.T) {
	if explore.Round() == 0 {
		t.Skip("its verdict is not the same each time: WEFT_EXPLORE=1")
	}
	for _, c := range []struct {
		transport string
		hosts     int
	}{{"shm", 1}, {"udp", 1}, {"tcp", 1}, {"auto", 2}} {
		t.Run(c.transport, func(t *testing.T) {
			plan := stress.Draw(explore.Round(), 4, c.transport, c.hosts)
			f, err := stress.Run(t.Context(), plan, options(t))
			if err != nil {
				t.Fatal(err)
			}
			if f != nil {
				t.Fatalf("%v\n%s\nkept in %s", plan, strings.Join(f.Found, "\n"), f.Dir)
			}
		})
	}
}

// A job of processes comes to its end, and one in which a rank panics is found to have failed.
func TestProcesses(t *testing.T) {
	for spoil, want := range map[string]string{"": "", "panic": "panic"} {
		o := options(t)
		o.Spoil = spoil
		o.Only = "stream"
		plan := stress.Draw(1, 2, "tcp", 1)
		plan.Strikes = nil
		f, err := stress.Run(t.Context(), plan, o)
		if err != nil {
			t.Fatal(err)
		}
		if f != nil {
			defer os.RemoveAll(f.Dir)
		}
		if (f != nil) != (want != "") || f != nil && !strings.Contains(strings.Join(f.Found, "\n"), want) {
			t.Errorf("spoiled by %q: %+v", spoil, f)
		}
	}
}

// What a sender does wrong is found, each by the check that is meant for it.
func TestWrongsAreFound(t *testing.T) {
	for spoil, want := range map[string]string{
		"lose": "stuck", "repeat": "came twice", "reorder": "came after", "damage": "damaged", "hang": "stuck",
	} {
		t.Run(spoil, func(t *testing.T) {
			for s := range uint64(30) {
				plan := stress.DrawSimulated(s)
				plan.Strikes = nil
				if f, _ := stress.Simulate(t.Context(), plan, "stream", spoil, nil); f != nil {
					if text := strings.Join(f.Found, "\n"); !strings.Contains(text, want) {
						t.Errorf("seed %d: %s", s, text)
					}
					return
				}
			}
			t.Error("not found")
		})
	}
}

// TestEnds plays tables of ends with processes: ranks that return, fail, panic, exit and are killed, and all on a
// signal.
func TestEnds(t *testing.T) {
	for _, c := range []struct {
		transport string
		n         int
		seed      uint64
	}{{"shm", 4, 1}, {"udp", 4, 4}, {"tcp", 4, 6}, {"udp", 2, 5}, {"shm", 2, 10}} {
		o := options(t)
		o.Only = "ends"
		plan := stress.Draw(c.seed, c.n, c.transport, 1)
		if f, err := stress.Run(t.Context(), plan, o); err != nil || f != nil {
			t.Errorf("%+v: %v %+v", c, err, f)
		}
	}
}

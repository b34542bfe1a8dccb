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

// Ranks do everything at random over every transport while some are struck, and weft keeps its promises: one job over
// each transport. weftlab stress runs job after job.
func TestStress(t *testing.T) {
	for _, c := range []struct {
		transport string
		hosts     int
	}{{"shm", 1}, {"udp", 1}, {"tcp", 1}, {"auto", 2}} {
		t.Run(c.transport, func(t *testing.T) {
			seed, _ := explore.Seeds(1)
			plan := stress.Draw(seed, 4, c.transport, c.hosts)
			f, err := stress.Run(t.Context(), plan, options(t))
			if err != nil {
				t.Fatal(err)
			}
			if f != nil {
				t.Fatalf("seed %d: %s\nkept in %s", seed, strings.Join(f.Found, "\n"), f.Dir)
			}
		})
	}
}

// What a sender does wrong is found, each by the check that is meant for it.
func TestWrongsAreFound(t *testing.T) {
	for spoil, want := range map[string]string{
		"lose": "stuck", "repeat": "came twice", "reorder": "came after", "damage": "damaged", "hang": "stuck",
		"panic": "panic",
	} {
		t.Run(spoil, func(t *testing.T) {
			t.Parallel()
			o := options(t)
			o.Spoil = spoil
			o.Only = "stream"
			o.Patience = 5 * time.Second
			for s := uint64(1); s < 10; s++ {
				plan := stress.Draw(s, 2, "tcp", 1)
				plan.Strikes = nil
				f, err := stress.Run(t.Context(), plan, o)
				if err != nil {
					t.Fatal(err)
				}
				if f != nil {
					defer os.RemoveAll(f.Dir)
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

// Package planted chooses which of the laboratory's bugs a test plants. Only tests import it. An overlay of the
// source (lab/planted) puts questions such as
//
//	if planted.On("NoReAck")
//
// into the product's packages for one run of `go test`, so that the product itself has no trace of any bug:
//
//	go run ./lab/planted
package planted

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// overlaid reports whether this build has the bugs in it. The overlay makes it true.
const overlaid = false

// env names the bug of a process that Fails has started.
const env = "WEFT_PLANTED"

var (
	bug   = os.Getenv(env) // the planted one, or ""
	later func()
	calls int
)

// Find plants a bug, and runs the seeds before end, until one returns the error by which it has found the bug. It
// begins with the seed first. The subtest has the bug's name, by which lab/planted knows that the bug has been
// found.
func Find(t *testing.T, name string, first, end uint64, run func(seed uint64) error) {
	t.Helper()
	if !overlaid {
		t.Skip("this build has no bugs: go run ./lab/planted")
	}
	t.Run(name, func(t *testing.T) {
		defer plant("")
		for seed := first; seed < end; seed++ {
			plant(name) // anew, so that a seed can be replayed alone
			if err := run(seed); err != nil {
				t.Logf("seed %d: %.200v", seed, err)
				return
			}
		}
		t.Errorf("not found by the seeds from %d to %d", first, end)
	})
}

// Fails shows that a test of this package finds a bug: in a process in which the bug is planted from the beginning, the
// test fails. Test is a pattern as -run takes it. The subtest has the bug's name, as in Find.
func Fails(t *testing.T, name, test string) {
	t.Helper()
	if !overlaid {
		t.Skip("this build has no bugs: go run ./lab/planted")
	}
	t.Run(name, func(t *testing.T) {
		cmd := exec.Command(os.Args[0], "-test.run", test)
		cmd.Env = append(os.Environ(), env+"="+name)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "--- FAIL") {
			t.Errorf("%s does not fail: %v\n%s", test, err, out)
		}
		t.Logf("found by %s", test)
	})
}

func plant(name string) {
	bug = name
	later = nil
	calls = 0
}

// On reports whether a bug is planted.
func On(name string) bool { return bug == name }

// Later runs the function that it was given last, and keeps f for the next time.
func Later(f func()) {
	if later != nil {
		later()
	}
	later = f
}

// Sometimes reports true every eighth time.
func Sometimes() bool {
	calls++
	return calls%8 == 0
}

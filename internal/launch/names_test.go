//go:build linux

package launch_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"weft/internal/bootstrap"
	"weft/internal/launch"
)

// A process that a rank has left behind, and that goes on writing to its output, does not keep the job from ending.
func TestTalkersAreNotAwaited(t *testing.T) {
	j, _, report := job(t, 2, "talker")
	if r := run(t, j, nil); r.Status != 0 {
		t.Errorf("%+v: %s", r, report)
	}
}

// beCurious is a rank that reads the names of all sockets, as every user can, when
// its launcher has one, and says whether one of them tells the job's number.
func beCurious() {
	src, err := bootstrap.FromEnv()
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	launcher := fmt.Sprintf("@weft-job-%d-%d-", os.Getuid(), os.Getppid())
	names := ""
	for ; !strings.Contains(names, launcher); runtime.Gosched() {
		b, err := os.ReadFile("/proc/net/unix")
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		names = string(b)
	}
	id := src.Job().ID
	for _, text := range []string{strconv.FormatUint(id, 10), strconv.FormatUint(id, 16)} {
		if strings.Contains(names, text) {
			fmt.Println("told", text)
		}
	}
	fmt.Println("looked")
}

// The job's number, which every packet must have, is not to be read off the name of
// a socket.
func TestNamesTellNothing(t *testing.T) {
	j, out, report := job(t, 1, "curious")
	if r, err := launch.Run(t.Context(), j, nil); err != nil || r.Status != 0 {
		t.Fatalf("%v %+v %s", err, r, report)
	}
	if !strings.Contains(out.String(), "looked") || strings.Contains(out.String(), "told") {
		t.Error(out)
	}
}

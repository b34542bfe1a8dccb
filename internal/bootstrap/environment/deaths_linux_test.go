//go:build !race

package environment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// envVictim makes the test's executable a rank of a job in which the rank of that number is killed
// as soon as all have joined. The others print what they hear of it.
const envVictim = "WEFT_TEST_VICTIM"

// beRank is such a rank.
func beRank(victim string) int {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s, err := Join(ctx, func(text string) { fmt.Fprintln(os.Stderr, text) })
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	err = errors.Join(s.Fence(ctx), s.Put(ctx, "come", "yes"))
	for i := range s.Job().Size {
		if err == nil && strconv.Itoa(s.Job().Rank) == victim {
			_, err = s.Get(ctx, i, "come") // the others have nothing to ask any more
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if strconv.Itoa(s.Job().Rank) == victim {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	heard := make(chan string)
	s.Watch(func(rank int, cause error) {
		select {
		case heard <- fmt.Sprintf("rank %d heard of rank %d: %v", s.Job().Rank, rank, cause):
		case <-ctx.Done():
		}
	})
	select {
	case text := <-heard:
		fmt.Println(text)
		_ = s.Close() // rank 0 serves until the other has left, too
		return 0
	case <-ctx.Done():
		fmt.Println("nothing was heard")
		return 1
	}
}

// A rank that is killed is a death to all others, also if it was rank 0: that ends no more than
// rank 0.
func TestDeaths(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for victim, want := range map[int]string{
		0: "rank 0, which serves the job's store, is gone",
		1: "its connection to rank 0, which serves the job's store, has ended",
	} {
		t.Run(fmt.Sprint("rank ", victim), func(t *testing.T) {
			port := freePort(t)
			var others []*process
			for i := range 3 {
				env := []string{
					EnvSecret + "=a secret for a test of deaths", fmt.Sprint("WEFT_RANK=", i), "WEFT_SIZE=3",
					"WEFT_RENDEZVOUS=localhost:" + port, fmt.Sprint(envVictim, "=", victim),
				}
				p := begin(t, env, self)
				if i == victim {
					t.Cleanup(func() { _ = p.cmd.Wait() }) // it was killed
					continue
				}
				others = append(others, p)
			}
			out := finish(t, others)
			if strings.Count(out, fmt.Sprintf("heard of rank %d: ", victim)) != 2 || strings.Count(out, want) != 2 {
				t.Errorf("%s", out)
			}
		})
	}
}

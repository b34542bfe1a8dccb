//go:build !race

package environment

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"weft/internal/sys"
	"weft/internal/waittest"
	"weft/lab/netlab"
)

// envVictim makes the test's executable a rank of a job in which the rank of that number is killed
// as soon as all have joined. The others print what they hear of it.
const envVictim = "WEFT_TEST_VICTIM"

// envVanish lets no rank be killed: each says when all have joined, waits for a line of its
// standard input, puts something, and prints what it hears.
const envVanish = "WEFT_TEST_VANISH"

// beRank is such a rank.
func beRank(victim string) int {
	ctx, cancel := context.WithTimeout(context.Background(), waittest.Patience)
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
	if os.Getenv(envVanish) != "" {
		fmt.Println("all have joined")
		fmt.Scanln()
		_ = s.Put(ctx, "late", "yes") // it cannot arrive
	}
	heard := make(chan string)
	s.Watch(func(rank int, cause error) {
		if number, err := strconv.Atoi(victim); err == nil && rank != number {
			return // another rank has heard of the death, and has ended, before this one has
		}
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
func TestDeathsOfRanks(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for victim, want := range map[int]string{
		0: "the connection to rank 0, which serves the job, has ended",
		1: "its connection to rank 0, which serves the job, has ended",
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

// A host that vanishes without a word is a death to the others, also while something is on its way to it.
func TestHostVanishes(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("hosts need root")
	}
	hosts, err := netlab.Make(2, 0)
	if err != nil {
		t.Skipf("no hosts: %v", err)
	}
	defer hosts.Remove()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
	defer cancel()
	var ranks []*exec.Cmd
	var said []*bufio.Scanner
	var told []io.Writer
	for i, h := range hosts.Hosts {
		c := exec.CommandContext(ctx, self)
		c.Env = append(os.Environ(), EnvSecret+"=a secret for a test of hosts", fmt.Sprint("WEFT_RANK=", i), "WEFT_SIZE=2",
			fmt.Sprintf("WEFT_RENDEZVOUS=%s:7000", hosts.Hosts[0].IP), EnvLiveness+"=4s", envVictim+"=none", envVanish+"=1")
		c.Stderr = os.Stderr
		out, outErr := c.StdoutPipe()
		in, inErr := c.StdinPipe()
		if err := errors.Join(outErr, inErr, sys.InNetwork(h.Namespace, c.Start)); err != nil {
			t.Fatal(err)
		}
		ranks = append(ranks, c)
		said = append(said, bufio.NewScanner(out))
		told = append(told, in)
	}
	hear := func(i int, want string) {
		t.Helper()
		if said[i].Scan(); !strings.HasPrefix(said[i].Text(), want) {
			t.Errorf("rank %d says %q, not %q", i, said[i].Text(), want)
		}
	}
	hear(0, "all have joined")
	hear(1, "all have joined")
	if err := hosts.Hosts[1].SetUp(false); err != nil {
		t.Fatal(err)
	}
	for _, in := range told {
		io.WriteString(in, "go on\n")
	}
	hear(0, "rank 0 heard of rank 1: its connection to rank 0")
	hear(1, "rank 1 heard of rank 0: weft: the connection to rank 0, which serves the job, has ended")
	for _, c := range ranks {
		_ = c.Wait() // what it has said tells
	}
}

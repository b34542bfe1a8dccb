package webtest

import (
	"syscall"
	"testing"
)

// TestHistograms: the page shows for the chosen pair how long its round trips took, and for its sender what waits have
// cost; in a recording how long messages took.
func TestHistograms(t *testing.T) {
	weft := build(t, weftModule, "./cmd/weft")
	job := build(t, ".", "./job")
	b := open(t, start(t, weft, "run", "-n", "2", "-transport", "udp", "-http", "127.0.0.1:0", job))
	b.shows("#summary", "2 ranks, 20 messages")
	b.press("2")
	b.shows("#times-of", "rank 0 to rank 1: round trips")
	b.shows("#times", "%")
	b.shows("#waited", "receive")
	b.shows("#waited", "barrier")
	if sum := value[int](b, `past[at].detail.Times.reduce((a, c) => a + c.count, 0)`); sum == 0 {
		t.Error("no round trips are counted")
	}
	const drawn = `[...document.querySelectorAll("#times td.bar div")].filter(e => e.offsetWidth > 0).length`
	if bars := value[int](b, drawn); bars == 0 {
		t.Error("the histogram has no bars")
	}
	b.keep("histograms")
}

// TestStoppedRank: a rank that a signal has stopped before the page was opened, and so has never answered, is shown by
// its page of counters: what it has sent, on which path, and what its goroutines wait for.
func TestStoppedRank(t *testing.T) {
	weft := build(t, weftModule, "./cmd/weft")
	job := build(t, ".", "./job")
	address := start(t, weft, "run", "-n", "3", "-liveness", "-1s", "-http", "127.0.0.1:0", job, "-messages", "20")
	pid := value[int](ready(t, address), `past[at].Ranks[2].PID`)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })

	b := open(t, address) // another browser
	b.shows("#summary", "3 ranks")
	b.press("3")
	b.shows("#ranks", "stopped by a signal or a debugger; goroutines of it wait for barrier")
	b.press("2")
	value[bool](b, `choose(2, 0); draw(); true`)
	b.shows("#pair-messages", "20")
	b.shows("#pair-path", "shm")
	b.shows("#waited", "barrier")
	b.keep("stopped")
}

// ready returns a browser whose page shows that all ranks of a job of three wait.
func ready(t *testing.T, address string) *browser {
	t.Helper()
	b := open(t, address)
	b.shows("#summary", "3 ranks, 60 messages")
	b.press("3")
	b.shows("#stuck", "Deadlock")
	if err := b.holds(`past[at].Ranks[2].Doing.includes("barrier")`); err != nil {
		t.Fatal(err)
	}
	return b
}

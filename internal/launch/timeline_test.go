//go:build linux

package launch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"weft"
	"weft/internal/launch"
	"weft/internal/timeline/traceevent"
	"weft/internal/waittest"
)

// timelineLaps is how often two ranks send each other a message.
const timelineLaps = 50

// timelineRank is what a rank does of which a timeline is made.
func timelineRank(ctx context.Context, p *weft.Proc, arg string) error {
	if arg == "mail" {
		return mailRank(ctx, p)
	}
	q, err := p.OpenPort(1, nil)
	if err != nil {
		return err
	}
	b := make([]byte, 128<<10)
	for range timelineLaps {
		if p.Rank() == 0 {
			if err = q.Send(ctx, 1, b[:8]); err == nil {
				_, err = q.RecvIntoFrom(ctx, 1, b)
			}
		} else if _, err = q.RecvIntoFrom(ctx, 0, b); err == nil {
			err = q.Send(ctx, 0, b[:8])
		}
		if err != nil {
			return err
		}
	}
	if p.Rank() == 0 { // a long message
		err = q.Send(ctx, 1, b)
	} else {
		_, err = q.RecvIntoFrom(ctx, 0, b)
	}
	if err != nil {
		return err
	}
	if err := p.Barrier("met", nil).Wait(ctx); err != nil {
		return err
	}
	switch {
	case arg == "spin" && p.Rank() == 1:
		for spins := 0; ; spins++ { // until it is killed
		}
	case arg == "spin":
		return hear(context.Background(), q, 1)
	case arg != "die":
		return nil
	}
	if p.Rank() == 1 {
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	_, err = q.RecvFrom(ctx, 1)
	if peer := new(weft.PeerError); !errors.As(err, &peer) {
		return fmt.Errorf("the death is told as %w", err)
	}
	return nil
}

// runTimeline runs two ranks and returns their timeline, and what was reported.
func runTimeline(t *testing.T, change func(j *launch.Job)) (*traceevent.Trace, string) {
	t.Helper()
	j, _, report := job(t, 2, "timeline")
	j.Timeline = filepath.Join(t.TempDir(), "timeline")
	if change != nil {
		change(&j)
	}
	want := 0
	if j.Timeout > 0 {
		want = 124
	}
	if r := run(t, j, nil); r.Status != want {
		t.Fatalf("%+v: %s", r, report)
	}
	f, err := os.Open(j.Timeline)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	trace, err := traceevent.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return trace, report.String()
}

// checkArrows fails unless every message leads from its send to its receive, later.
func checkArrows(t *testing.T, trace *traceevent.Trace) {
	t.Helper()
	arrows := trace.Arrows
	if len(arrows) != 2*timelineLaps+1 {
		t.Errorf("%d arrows", len(arrows))
	}
	for _, a := range arrows {
		if a.From.Name != "send" || a.From.Process == a.To.Process {
			t.Fatalf("from %+v to %+v", a.From, a.To)
		}
	}
}

// names counts what a timeline shows.
func names(trace *traceevent.Trace) map[string]int {
	n := map[string]int{}
	for _, e := range trace.Slices {
		n[e.Name]++
	}
	return n
}

// TestTimeline: what real ranks do is joined, on each transport, with packets where there is
// a network.
func TestTimeline(t *testing.T) {
	for _, transport := range []string{"shm", "udp", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			trace, report := runTimeline(t, func(j *launch.Job) { j.Transport = transport })
			checkArrows(t, trace)
			n := names(trace)
			if n["send"] < 2*timelineLaps+1 || n["fetch"] != 1 || n["barrier met"] != 2 ||
				n["packets out"] > 0 != (transport != "shm") {
				t.Errorf("%v", n)
			}
			if !strings.Contains(report, "events of 2 ranks, for ui.perfetto.dev") {
				t.Errorf("reported: %s", report)
			}
		})
	}
}

// TestTimelineOfKilledRank: of a rank that is killed nothing comes, and the file says so.
func TestTimelineOfKilledRank(t *testing.T) {
	trace, report := runTimeline(t, func(j *launch.Job) {
		j.Env[0] = envMode + "=timeline die"
		j.Survive = true
	})
	n := names(trace)
	if n["rank 1 has handed nothing over"] != 1 || n["send"] < timelineLaps ||
		!strings.Contains(report, "nothing came from ranks [1]") {
		t.Errorf("%v, reported %s", n, report)
	}
}

// TestTimelineOfDeafRanks: ranks that do not end when the job's time is over hand over their events before they are
// killed, also a rank that computes and never calls weft again. On a busy machine the job gets more time, until its
// ranks have done what they are to record.
func TestTimelineOfDeafRanks(t *testing.T) {
	var n map[string]int
	var report string
	for limit := time.Second; n["barrier met"] < 2 && limit < waittest.Patience; limit *= 4 {
		var trace *traceevent.Trace
		trace, report = runTimeline(t, func(j *launch.Job) {
			j.Env[0] = envMode + "=timeline spin"
			j.Timeout = limit
			j.Grace = 100 * time.Millisecond
		})
		n = names(trace)
	}
	if n["send"] < 2*timelineLaps+1 || n["barrier met"] != 2 ||
		!strings.Contains(report, "ranks 0, 1 did not end within 100ms") ||
		!strings.Contains(report, "events of 2 ranks, for ui.perfetto.dev") {
		t.Errorf("%v, reported %s", n, report)
	}
}

// TestTimelineAcrossClocks: ranks whose clocks have nothing in common are put on one, so that
// no message arrives before it is sent.
func TestTimelineAcrossClocks(t *testing.T) {
	const apart = "--time --monotonic 100000 --boottime 100000 --fork"
	if text, err := exec.Command("unshare", append(strings.Fields(apart), "true")...).CombinedOutput(); err != nil {
		t.Skipf("no time namespace can be made: %v: %s", err, text)
	}
	var file string
	trace, _ := runTimeline(t, func(j *launch.Job) {
		file = j.Timeline
		script := filepath.Join(t.TempDir(), "rank")
		lock := filepath.Join(t.TempDir(), "first")
		text := fmt.Sprintf("#!/bin/sh\nif mkdir %s 2>/dev/null; then exec %s; fi\nexec unshare %s %s\n", lock, j.Program,
			apart, j.Program)
		if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		j.Program = script
		j.Transport = "udp"
	})
	checkArrows(t, trace)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text, []byte("by messages and barriers in both directions")) ||
		!bytes.Contains(text, []byte(`"messages received before they were sent":0`)) {
		t.Errorf("%s", text)
	}
}

// TestTimelineCannotBeMade: that a file cannot be made is found out before the job runs.
func TestTimelineCannotBeMade(t *testing.T) {
	j, _, _ := job(t, 2, "hello")
	j.Timeline = filepath.Join(t.TempDir(), "none", "timeline")
	if _, err := launch.Start(t.Context(), j, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if noted(j, 0, "pid") {
		t.Error("a rank was started")
	}
}

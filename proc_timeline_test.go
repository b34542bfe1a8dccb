package weft

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"weft/internal/timeline/traceevent"
)

// story is a short program in which everything happens that a timeline shows.
func story(ctx context.Context, p *Proc) error {
	q, err := p.OpenPort(1, nil)
	if err != nil {
		return err
	}
	next := (p.Rank() + 1) % p.Size()
	before := (p.Rank() + p.Size() - 1) % p.Size()
	if err := q.Send(ctx, next, []byte("short")); err != nil {
		return err
	}
	m, err := q.RecvFrom(ctx, before)
	if err != nil {
		return err
	}
	m.Release()
	if p.Rank() == 0 { // a long message, which is fetched
		err = q.Send(ctx, 1, make([]byte, 40<<10))
	} else if p.Rank() == 1 {
		_, _, err = q.RecvInto(ctx, make([]byte, 64<<10))
	}
	if err != nil {
		return err
	}
	l := p.Lock("turn", nil)
	if _, err := l.Lock(ctx); err != nil {
		return err
	}
	if err := p.Sleep(ctx, 1000); err != nil {
		return err
	}
	if err := l.Unlock(); err != nil {
		return err
	}
	return p.Barrier("end", nil).Wait(ctx)
}

// simulatedTimeline runs a program in the simulator and returns its timeline, and the file that holds it.
func simulatedTimeline(
	t *testing.T, c Cluster, run func(ctx context.Context, p *Proc) error,
) (trace *traceevent.Trace, file string) {
	t.Helper()
	var b bytes.Buffer
	c.Timeline = &b
	if _, err := Simulate(within(t), c, run); err != nil {
		t.Fatal(err)
	}
	file = b.String()
	trace, err := traceevent.Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	return trace, file
}

// TestTimelineGolden compares the timeline of a simulated job with what it was: all its times
// are exact. After a change that is meant,
//
//	go test . -run TimelineGolden -rewrite
func TestTimelineGolden(t *testing.T) {
	datadriven.RunTest(t, "testdata/timeline", func(t *testing.T, d *datadriven.TestData) string {
		c := Cluster{Ranks: 2, Link: "10Gbps,1us", MTU: 1500}
		lost := 0
		d.MaybeScanArgs(t, "ranks", &c.Ranks)
		d.MaybeScanArgs(t, "lost-percent", &lost)
		c.Loss = float64(lost) / 100
		run := map[string]func(ctx context.Context, p *Proc) error{"story": story, "mail": mailStory}[d.Cmd]
		_, file := simulatedTimeline(t, c, run)
		return file
	})
}

// TestTimelineArrows: every message of a simulated job leads from its send to its receive,
// also when packets are lost, and none arrives before it is sent.
func TestTimelineArrows(t *testing.T) {
	trace, _ := simulatedTimeline(t, Cluster{Ranks: 6, Loss: 0.05, Seed: 3}, ring(20))
	arrows := trace.Arrows
	if len(arrows) != 6*20 {
		t.Errorf("%d arrows", len(arrows))
	}
	for _, a := range arrows {
		if a.From.Name != "send" || a.Sent >= a.Arrived || a.From.Process == a.To.Process {
			t.Fatalf("from %+v to %+v", a.From, a.To)
		}
	}
	again := slices.ContainsFunc(trace.Slices, func(s *traceevent.Slice) bool {
		return s.Name == "packets out" && s.Arguments.Again > 0
	})
	if !again {
		t.Error("no packet is shown as sent again")
	}
}

// TestTimelineFaults: a fault is marked at the ranks to which it happens, at its time, and so is its end.
func TestTimelineFaults(t *testing.T) {
	trace, _ := simulatedTimeline(t, Cluster{Ranks: 3, Faults: []Fault{
		{Kind: Slow, Ranks: []int{1}, At: time.Microsecond, For: 5 * time.Microsecond, Delay: time.Microsecond},
		{Kind: Pause, Ranks: []int{0, 2}, At: 3 * time.Microsecond, For: time.Millisecond},
	}}, ring(20))
	var marks []string
	for _, s := range trace.Slices {
		if s.Category == "fault" {
			marks = append(marks, fmt.Sprintf("%d ns: %s of rank %d", s.Begin, s.Name, s.Process-1))
		}
	}
	want := []string{"1000 ns: fault: slow of rank 1", "3000 ns: fault: pause of rank 0",
		"3000 ns: fault: pause of rank 2",
		"6000 ns: fault: heal of rank 1"}
	if !slices.Equal(marks, want) {
		t.Errorf("%q", marks)
	}
}

// TestTimelineDoesNotChangeTheRun: what is recorded happens as it does otherwise.
func TestTimelineDoesNotChangeTheRun(t *testing.T) {
	c := Cluster{Ranks: 8, Loss: 0.03, Seed: 5}
	without, err := Simulate(within(t), c, story)
	if err != nil {
		t.Fatal(err)
	}
	c.Timeline = &bytes.Buffer{}
	with, err := Simulate(within(t), c, story)
	if err != nil {
		t.Fatal(err)
	}
	if with.Hash != without.Hash || with.Time != without.Time {
		t.Errorf("%#x at %v, and without a timeline %#x at %v", with.Hash, with.Time, without.Hash, without.Time)
	}
}

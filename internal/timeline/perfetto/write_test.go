package perfetto

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"weft/internal/timeline"
	"weft/internal/timeline/perfetto/reader"
)

// part returns what a rank of two did, by its own clock.
func part(rank int, clock string, events ...timeline.Event) *timeline.Part {
	return &timeline.Part{
		Head: timeline.Head{Rank: rank, Size: 2, Host: clock, PID: 100 + rank, Program: "p", Clock: clock,
			Events: len(events)},
		Events: events,
	}
}

// written writes parts, and reads what was written.
func written(t *testing.T, parts ...*timeline.Part) (*reader.Trace, Summary) {
	t.Helper()
	var b bytes.Buffer
	s, err := Write(&b, parts)
	if err != nil {
		t.Fatal(err)
	}
	trace, err := reader.Decode(b.Bytes())
	if err == nil {
		err = trace.Check()
	}
	if err != nil {
		t.Fatal(err)
	}
	return trace, s
}

// TestFlow: a message leads from the beginning of its send to the end of its receive, which
// began before.
func TestFlow(t *testing.T) {
	id := timeline.MessageID(0, 1, 3, 7)
	trace, s := written(t,
		part(0, "h", timeline.Event{Begin: 1000, End: 1400, ID: id, Size: 8, Peer: 1, Kind: timeline.Send}),
		part(1, "h", timeline.Event{Begin: 900, End: 1300, ID: id, Size: 8, Peer: 0, Kind: timeline.Receive}),
	)
	flows := trace.Flows()
	if len(flows) != 1 {
		t.Fatalf("%d flows in\n%v", len(flows), trace)
	}
	from := flows[0][0]
	to := flows[0][1]
	if from.Name != "send" || from.Type != "begin" || from.At != 100 || to.Type != "end" || to.At != 400 {
		t.Errorf("from %+v to %+v", from, to)
	}
	if s.Events != 2 || s.Early != 0 {
		t.Errorf("%+v", s)
	}
}

// TestLanes: operations that overlap without nesting are drawn on tracks of their own, sleeps
// inside what sleeps.
func TestLanes(t *testing.T) {
	e := func(begin, end int64, k timeline.Kind) timeline.Event {
		return timeline.Event{Begin: begin, End: end, Peer: timeline.Nobody, Kind: k}
	}
	trace, _ := written(t, part(0, "h",
		e(0, 100, timeline.Receive), e(10, 90, timeline.Sleep), e(50, 150, timeline.Flush), e(90, 90, timeline.Put),
		e(100, 200, timeline.Receive),
	))
	lanes := map[string]uint64{}
	for _, ev := range trace.Events {
		if ev.Type == "begin" {
			lanes[ev.Name] = ev.Track
		}
	}
	if lanes["receive"] != lanes["sleep"] || lanes["receive"] == lanes["flush"] {
		t.Errorf("%v", lanes)
	}
	operations := slices.DeleteFunc(slices.Clone(trace.Tracks),
		func(k reader.Track) bool { return k.Name != "operations" })
	if len(operations) != 2 {
		t.Errorf("tracks %+v", trace.Tracks)
	}
}

// TestWhatIsMissingIsSaid: dropped events, ranks that were killed, clocks.
func TestWhatIsMissingIsSaid(t *testing.T) {
	a := part(0, "a", timeline.Event{Begin: 10, End: 20, Kind: timeline.Send, Peer: 1})
	a.Dropped = 12
	a.Lost = 3
	b := part(1, "b", timeline.Event{Begin: 10, End: 20, Kind: timeline.Send, Peer: 0, Flags: timeline.Failed})
	trace, s := written(t, a, b, nil)
	text := trace.String()
	for _, want := range []string{
		"12 earlier and 3 later events of this rank are not here", "dropped=12",
		"clock of b: by the wall clocks of the hosts",
		"rank 2 has handed nothing over", "ended=with an error", "track rank 0 on a (p, process 100)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if s.Dropped != 12 || s.Lost != 3 || !slices.Equal(s.Absent, []int{2}) {
		t.Errorf("%+v", s)
	}
}

// TestNothing: a job of which nothing came gives a file all the same.
func TestNothing(t *testing.T) {
	trace, s := written(t, nil, nil)
	if len(s.Absent) != 2 || len(trace.Events) != 3 {
		t.Errorf("%+v, %v", s, trace)
	}
}

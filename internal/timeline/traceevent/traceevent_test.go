package traceevent

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"weft/internal/timeline"
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
func written(t *testing.T, parts ...*timeline.Part) (trace *Trace, text string, s Summary) {
	t.Helper()
	var b bytes.Buffer
	s, err := Write(&b, parts)
	if err != nil {
		t.Fatal(err)
	}
	text = b.String()
	if trace, err = Read(&b); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return trace, text, s
}

// TestArrow: a message leads from the beginning of its send to the end of its receive, which
// began before.
func TestArrow(t *testing.T) {
	id := timeline.MessageID(0, 1, 3, 7)
	trace, text, s := written(t,
		part(0, "h", timeline.Event{Begin: 1000, End: 1400, ID: id, Size: 8, Peer: 1, Kind: timeline.Send}),
		part(1, "h", timeline.Event{Begin: 900, End: 1300, ID: id, Size: 8, Peer: 0, Kind: timeline.Receive}),
	)
	if len(trace.Arrows) != 1 {
		t.Fatalf("%d arrows in\n%s", len(trace.Arrows), text)
	}
	a := trace.Arrows[0]
	if a.From.Name != "send" || a.From.Begin != 100 || a.Sent != 100 || a.To.Name != "receive" || a.To.End != 400 ||
		a.Arrived != 400 {
		t.Errorf("from %+v to %+v: %+v", a.From, a.To, a)
	}
	if s.Events != 2 || s.Early != 0 {
		t.Errorf("%+v", s)
	}
}

// TestArrowOfMoments: where nothing takes any time, an arrow begins in the file before it ends, and belongs to
// its own operations. The viewer would not draw it otherwise.
func TestArrowOfMoments(t *testing.T) {
	id := timeline.MessageID(1, 0, 3, 7)
	e := func(begin, end int64, k timeline.Kind, id uint64, peer int32) timeline.Event {
		return timeline.Event{Begin: begin, End: end, Kind: k, ID: id, Peer: peer}
	}
	trace, text, _ := written(t,
		part(0, "h", e(0, 100, timeline.Receive, id, 1), e(40, 40, timeline.Put, 0, 1)),
		part(1, "h", e(50, 100, timeline.Flush, 0, 0), e(100, 100, timeline.Send, id, 0)),
	)
	if strings.Index(text, `"ph":"s"`) > strings.Index(text, `"ph":"f"`) {
		t.Errorf("an arrow ends before it begins:\n%s", text)
	}
	if len(trace.Arrows) != 1 || trace.Arrows[0].From.Name != "send" || trace.Arrows[0].To.Name != "receive" {
		t.Errorf("%+v in\n%s", trace.Arrows, text)
	}
}

// TestEveryNanosecondIsKept, however long a job runs.
func TestEveryNanosecondIsKept(t *testing.T) {
	const day = int64(24 * 3600 * 1e9)
	var events []timeline.Event
	for at := int64(0); at < 2000; at++ {
		events = append(events, timeline.Event{Begin: at * (day/2000 + 1), End: at*(day/2000+1) + 1, Kind: timeline.Flush})
	}
	trace, _, _ := written(t, part(0, "h", events...))
	for i, s := range trace.Slices[1:] {
		if s.Begin != events[i].Begin || s.End != events[i].End {
			t.Fatalf("[%d, %d] is read as [%d, %d]", events[i].Begin, events[i].End, s.Begin, s.End)
		}
	}
}

// TestLanes: operations that overlap without nesting are drawn on tracks of their own, sleeps
// inside what sleeps.
func TestLanes(t *testing.T) {
	e := func(begin, end int64, k timeline.Kind) timeline.Event {
		return timeline.Event{Begin: begin, End: end, Peer: timeline.Nobody, Kind: k}
	}
	trace, text, _ := written(t, part(0, "h",
		e(0, 100, timeline.Receive), e(10, 90, timeline.Sleep), e(50, 150, timeline.Flush), e(90, 90, timeline.Put),
		e(100, 200, timeline.Receive),
	))
	lanes := map[string]int{}
	for _, s := range trace.Slices {
		if s.Begin != s.End {
			lanes[s.Name] = s.Thread
		}
	}
	if lanes["receive"] != lanes["sleep"] || lanes["receive"] == lanes["flush"] {
		t.Errorf("%v", lanes)
	}
	if n := strings.Count(text, `"thread_name","args":{"name":"operations"}`); n != 2 || len(trace.Threads) != 2 {
		t.Errorf("%d tracks of operations, tracks %v", n, trace.Threads)
	}
}

// TestWhatIsMissingIsSaid: dropped events, ranks that were killed, clocks.
func TestWhatIsMissingIsSaid(t *testing.T) {
	a := part(0, "a", timeline.Event{Begin: 10, End: 20, Kind: timeline.Send, Peer: 1})
	a.Dropped = 12
	a.Lost = 3
	b := part(1, "b", timeline.Event{Begin: 10, End: 20, Kind: timeline.Send, Peer: 0, Flags: timeline.Failed})
	_, text, s := written(t, a, b, nil)
	for _, want := range []string{
		`"12 earlier and 3 later events of this rank are not here"`, `"dropped":12`,
		`"clock of b: by the wall clocks of the hosts"`,
		`"rank 2 has handed nothing over"`, `"ended":"with an error"`, `"rank 0 on a (p, process 100)"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
	if s.Dropped != 12 || s.Lost != 3 || !slices.Equal(s.Absent, []int{2}) {
		t.Errorf("%+v", s)
	}
}

// TestNothing: a job of which nothing came gives a file all the same.
func TestNothing(t *testing.T) {
	trace, text, s := written(t, nil, nil)
	if len(s.Absent) != 2 || len(trace.Slices) != 3 {
		t.Errorf("%+v, %s", s, text)
	}
}

// TestDamaged: what a viewer would show wrongly is no timeline.
func TestDamaged(t *testing.T) {
	const names = head + `{"ph":"M","pid":1,"tid":1,"name":"process_name","args":{"name":"p"}},` +
		`{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"t"}},`
	for _, events := range []string{
		``, `{}`, `{"traceEvents":7}`,
		names + `{"ph":"E","pid":1,"tid":1}` + tail,
		names + `{"ph":"B","pid":1,"tid":1,"name":"send"}` + tail,
		names + `{"ph":"B","pid":1,"tid":2,"name":"send"},{"ph":"E","pid":1,"tid":2}` + tail,
		names + `{"ph":"i","pid":2,"tid":1,"name":"send"}` + tail,
		names + `{"ph":"s","pid":1,"tid":1,"id":"0x1"}` + tail,
		names + `{"ph":"?","pid":1,"tid":1}` + tail,
		names + `{"ph":"i","pid":1,"tid":1,"name":"packets out"}`,
	} {
		if trace, err := Read(strings.NewReader(events)); err == nil {
			t.Errorf("%s is read as %+v", events, trace)
		}
	}
}

// FuzzRead: whatever a file has in it, reading it ends with an error or a trace.
func FuzzRead(f *testing.F) {
	f.Add([]byte(head + `{"ph":"B","pid":1,"tid":1,"ts":0.001,"name":"send","args":{"rank":1}}` + tail))
	f.Add([]byte(`{"traceEvents":[{"ph":"f","id":"0x1"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if trace, err := Read(bytes.NewReader(b)); err == nil {
			for _, a := range trace.Arrows {
				if a.From == nil || a.To == nil {
					t.Errorf("an arrow has one end: %+v", a)
				}
			}
		}
	})
}

package inbox

import (
	"testing"

	"weft/internal/timeline"
)

// TestPushAtTimeZero: a push that begins when a simulation does is shown with the time that it took, and
// a short one as a moment.
func TestPushAtTimeZero(t *testing.T) {
	var now int64
	rec := timeline.New(4, func() int64 { return now })
	s := &Sender{host: &Host{Timeline: rec}}
	long := s.mark(timeline.LeastNoted)
	short := s.mark(timeline.LeastNoted - 1)
	now = 7
	for _, c := range []struct{ began, want int64 }{{long, 0}, {short, 7}} {
		rec.Note(c.began, timeline.IPush, 0, 0, 0, nil)
		events := rec.Part(0, 1, "").Events
		if e := events[len(events)-1]; e.Begin != c.want || e.End != 7 {
			t.Errorf("a push that began at %d is shown from %d to %d", c.began, e.Begin, e.End)
		}
	}
}

package timeline

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"testing"
)

// clock is a host's that advances by one with each reading.
func clock() func() int64 {
	now := int64(0)
	return func() int64 { now++; return now }
}

// TestRecorderKeepsTheLast: a recorder that is full gives up what is oldest, and counts it.
func TestRecorderKeepsTheLast(t *testing.T) {
	r := New(8, clock())
	for i := range int64(20) {
		r.Add(Event{Begin: 100 + i, End: 100 + i, Kind: Send})
	}
	r.Share(Event{Begin: 50, End: 60, Kind: Push})
	p := r.Part(2, 4, "h")
	if p.Dropped != 12 || len(p.Events) != 9 || p.Head.Events != 9 {
		t.Fatalf("%d dropped, %d held", p.Dropped, len(p.Events))
	}
	if p.Events[0].Kind != Push {
		t.Errorf("the events are not in the order of time: %+v", p.Events)
	}
	for i, e := range p.Events[1:] {
		if e.Begin != 112+int64(i) {
			t.Errorf("event %d begins at %d", i, e.Begin)
		}
	}
}

// TestRecorderDoesNotAllocate: events cost no memory but that of the recorder.
func TestRecorderDoesNotAllocate(t *testing.T) {
	r := New(64, nil)
	if n := testing.AllocsPerRun(1000, func() {
		r.Add(Event{Begin: r.Now(), End: r.Now()})
		r.Share(Event{Begin: r.Now(), End: r.Now()})
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestTicksAreNanoseconds: times read from the processor's counter come out as those of the
// kernel's monotonic clock.
func TestTicksAreNanoseconds(t *testing.T) {
	r := New(64, nil)
	first := r.point()
	r.Add(Event{Begin: first.Ticks, End: first.Ticks})
	for last := first; last.Mono-first.Mono < 5e6; {
		last = r.point()
	}
	second := r.point()
	r.Add(Event{Begin: second.Ticks, End: second.Ticks})
	p := r.Part(0, 1, "h")
	for i, want := range []int64{first.Mono, second.Mono} {
		// A reading may be interrupted between the two clocks: the bound is generous.
		if got := p.Events[i].Begin; math.Abs(float64(got-want)) > 1e6 {
			t.Errorf("event %d is at %d, the monotonic clock said %d", i, got, want)
		}
	}
}

// example is a part with events of all kinds.
func example() *Part {
	r := New(64, clock())
	r.Name(7, "a\x1b[31mlock\n")
	for k := range kinds {
		at := int64(k) * 10
		r.Add(Event{Begin: at, End: at + int64(k), ID: uint64(k) * 7, Size: 1 << k, Peer: int32(k%4) - 1,
			Count: uint16(k), Kind: k, Flags: Flags(k & 3)})
	}
	return r.Part(1, 4, "host")
}

func TestPartRoundTrip(t *testing.T) {
	p := example()
	if p.Names[7] != "a [31mlock " {
		t.Errorf("a name is %q", p.Names[7])
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	got, err := Parse(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, p) {
		t.Errorf("%+v\nbecomes\n%+v", p, got)
	}
}

// TestPartOfKilledRank: what came of a part before its rank was killed is read, and the
// rest is counted.
func TestPartOfKilledRank(t *testing.T) {
	p := example()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	head := bytes.IndexByte(b.Bytes(), '\n') + 1
	for n := range b.Len() {
		got, err := Parse(b.Bytes()[:n])
		if n < head {
			if !errors.Is(err, ErrPart) {
				t.Fatalf("%d bytes: %v", n, err)
			}
			continue
		}
		if err != nil || got.Lost == 0 || got.Lost+len(got.Events) != len(p.Events) {
			t.Fatalf("%d bytes: %d events, %d lost: %v", n, len(got.Events), got.Lost, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	var b bytes.Buffer
	if err := example().Write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(b.Bytes()[:b.Len()-3])
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Parse(b)
		if err != nil {
			return
		}
		if p.Rank >= p.Size || p.Lost < 0 {
			t.Fatalf("%+v", p.Head)
		}
		Align([]*Part{p})
	})
}

func TestCapacity(t *testing.T) {
	for _, c := range []struct{ ranks, want int }{{1, 1 << 20}, {4, 1 << 20}, {5, 1 << 19}, {64, 1 << 16},
		{1 << 16, 1 << 12}} {
		if got := Capacity(c.ranks); got != c.want {
			t.Errorf("%d ranks: %d events, not %d", c.ranks, got, c.want)
		}
	}
}

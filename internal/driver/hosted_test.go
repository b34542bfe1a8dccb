package driver

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"weft/failure"
	"weft/internal/counters"
	"weft/internal/doorbell"
	"weft/internal/engine"
	"weft/internal/engine/msg"
	"weft/internal/monotime"
	"weft/internal/timeline"
)

// A stage is a Host whose time passes only while a goroutine sleeps. Meanwhile, at each sleep, a test's event happens.
type stage struct {
	at     monotime.Time
	alarm  monotime.Time
	event  func(until monotime.Time)
	slept  []time.Duration // how long each sleep was to last
	woken  []int
	later  []func()
	self   int
	enters int
}

func (s *stage) Now() monotime.Time     { return s.at }
func (s *stage) Enter()                 { s.enters++ }
func (s *stage) Self() int              { return s.self }
func (s *stage) Wake(goroutine int)     { s.woken = append(s.woken, goroutine) }
func (s *stage) Go(f func())            { f() }
func (s *stage) Alarm(at monotime.Time) { s.alarm = at }
func (s *stage) Later(f func())         { s.later = append(s.later, f) }

func (s *stage) Sleep(until monotime.Time, over func() bool) {
	length := time.Duration(-1)
	if until != monotime.Never {
		length = until.Sub(s.at)
	}
	s.slept = append(s.slept, length)
	if s.event != nil {
		s.event(until)
	}
	if over != nil && over() {
		return
	}
	if len(s.woken) > 0 {
		s.woken = nil
		return
	}
	if until == monotime.Never {
		panic("it sleeps for ever")
	}
	s.at = max(s.at, until)
}

// newStaged returns a node of rank 0 of two on a stage, with a transport that nothing leads to.
func newStaged(t *testing.T) (*Node, *stage) {
	s := &stage{at: 1, self: 3}
	n := New(Config{
		Engine: engine.Config{Size: 2, Job: 1, Incarnation: 1, Rand: func() uint64 { return 1 }}, Host: s,
		Route: func(int) (Route, error) { return Route{}, errors.New("there is no route") },
	})
	n.Start(doorbell.NewChan(), &sink{bell: doorbell.NewChan()})
	t.Cleanup(n.Crash)
	return n, s
}

// On a host a goroutine sleeps for as long as it is told, or until its context ends. The deadline of a context is in
// the host's time, and its error comes then, not when real time has passed.
func TestSleepHosted(t *testing.T) {
	n, s := newStaged(t)
	begin := s.at
	var none context.Context // never ends
	if err := n.SleepHosted(none, 0); err != nil || s.slept != nil {
		t.Errorf("%v, after %v", err, s.slept)
	}
	if err := n.SleepHosted(t.Context(), time.Second); err != nil || s.at.Sub(begin) != time.Second {
		t.Errorf("%v, at %v", err, s.at)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	begin = s.at
	if err := n.SleepHosted(ctx, 2*time.Hour); !errors.Is(err, context.DeadlineExceeded) || s.at != n.deadline(ctx) {
		t.Errorf("%v, after %v", err, s.at.Sub(begin))
	}
	if err := n.SleepHosted(ctx, time.Second); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after its deadline: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	begin = s.at
	s.event = func(monotime.Time) { cancel() }
	if err := n.SleepHosted(ctx, time.Second); !errors.Is(err, context.Canceled) || s.at != begin {
		t.Errorf("%v, after %v", err, s.at.Sub(begin))
	}
	expired, stop := context.WithDeadline(t.Context(), time.Unix(0, 0)) // in real time, which is none of the host's
	defer stop()
	if cancelled(expired) || !cancelled(ctx) || cancelled(context.Background()) {
		t.Error("a deadline in real time ends nothing on a host, and a cancelled context does")
	}
}

// A wait for a condition on a host ends when it holds, with the node or with the context, and looks at each event.
func TestAwaitHosted(t *testing.T) {
	n, s := newStaged(t)
	holds := false
	cond := func() bool { return holds }
	s.event = func(monotime.Time) { holds = true }
	var none context.Context // never ends
	if err := n.AwaitHosted(none, cond); err != nil || len(s.slept) != 1 || s.slept[0] != -1 {
		t.Errorf("%v, after sleeps of %v", err, s.slept)
	}
	if err := n.Poll(t.Context(), cond); err != nil || len(s.slept) != 1 {
		t.Errorf("it holds: %v, after sleeps of %v", err, s.slept)
	}
	holds = false
	ctx, cancel := context.WithCancel(t.Context())
	s.event = func(monotime.Time) { cancel() }
	if err := n.Poll(ctx, cond); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s.event = func(monotime.Time) { n.life.closing.Store(true) }
	if err := n.Poll(t.Context(), cond); !errors.Is(err, failure.ErrClosed) {
		t.Error(err)
	}
	holds = true
	if err := n.Poll(t.Context(), cond); err != nil {
		t.Errorf("it holds, and the node has closed: %v", err)
	}
}

// A call on a host sleeps until its goroutine is woken, and is shown and counted meanwhile.
func TestWaitHosted(t *testing.T) {
	n, s := newStaged(t)
	n.timeline = timeline.New(16, func() int64 { return int64(s.at) })
	p, err := n.Open(1, msg.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s.event = func(monotime.Time) {
		s.at = s.at.Add(time.Second)
		if !n.Send(p, 0, []byte("to itself"), false) {
			t.Error("there is no room")
		}
	}
	got, _, err := n.Receive(t.Context(), p, msg.Any, make([]byte, 16))
	if err != nil || got.N != 9 || got.From != 0 || len(s.slept) != 1 {
		t.Errorf("%+v, %v, after sleeps of %v", got, err, s.slept)
	}
	w := n.stats.page.Node.Waits[counters.Receive]
	if w.Count != 1 || w.Slept != 1 || w.Asleep != uint64(time.Second) {
		t.Errorf("%+v", w)
	}
	sleeps := 0
	for _, e := range n.timeline.Part(0, 2, "host").Events {
		if e.Kind == timeline.Sleep {
			sleeps++
		}
	}
	if sleeps != 1 {
		t.Errorf("%d sleeps are noted", sleeps)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.event = func(monotime.Time) { cancel() }
	if _, _, err := n.Receive(ctx, p, msg.Any, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	s.event = nil
	if _, _, err := n.Receive(ctx, p, msg.Any, nil); !errors.Is(err, context.DeadlineExceeded) || s.at != n.deadline(ctx) {
		t.Errorf("%v at %v", err, s.at)
	}
	s.event = func(monotime.Time) { n.Crash() }
	if _, _, err := n.Receive(t.Context(), p, msg.Any, nil); !errors.Is(err, failure.ErrClosed) {
		t.Error(err)
	}
}

// A look that has found nothing lets time pass on a host, and a node that drains or closes looks every millisecond, but
// for its patience.
func TestNodeStandsBy(t *testing.T) {
	n, s := newStaged(t)
	p, err := n.Open(1, msg.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := n.TryReceive(p, msg.Any, nil); ok || err != nil || !slices.Equal(s.slept, []time.Duration{lookCost}) {
		t.Errorf("%t, %v, after sleeps of %v", ok, err, s.slept)
	}
	there := engine.Config{Rank: 1, Size: 2, Job: 1, Incarnation: 1, Rand: func() uint64 { return 1 }}
	peer := &sink{peer: engine.New(there), bell: doorbell.NewChan()}
	peer.peer.Connect(0, 0, engine.Path{MTU: sinkMTU})
	n.connect(1, Route{Transport: peer})
	if !n.Send(p, 1, []byte("to a port that is not open"), false) {
		t.Fatal("there is no room")
	}
	s.slept = nil
	left := n.Drain(t.Context(), 5*closeLook/2)
	if want := []time.Duration{closeLook, closeLook, closeLook / 2}; len(left) != 1 || left[0].Messages != 1 ||
		!slices.Equal(s.slept, want) {
		t.Errorf("%+v, after sleeps of %v", left, s.slept)
	}
	s.slept = nil
	n.Close(3*closeLook/2, "")
	if want := []time.Duration{closeLook, closeLook / 2}; len(s.slept) > 0 && !slices.Equal(s.slept, want) {
		t.Errorf("sleeps of %v", s.slept)
	}
}

// A peer is dialled by the host's leave; what cannot be reached is gone.
func TestReachHosted(t *testing.T) {
	n, s := newStaged(t)
	short, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	port, err := n.Open(1, msg.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := n.Receive(short, port, 1, nil); !strings.Contains(err.Error(), "rank 1 has not been reached yet") {
		t.Error(err)
	}
	if _, err := n.Reach(short, 1); !errors.Is(err, context.DeadlineExceeded) || s.at != n.deadline(short) {
		t.Errorf("nobody answers: %v at %v", err, s.at)
	}
	s.event = func(monotime.Time) {
		for _, f := range s.later {
			f()
		}
		s.later = nil
	}
	p, err := n.Reach(t.Context(), 1)
	if err == nil || p == nil || p.Gone() == nil || s.enters == 0 {
		t.Errorf("%v, %v", p, err)
	}
	ran := false
	if n.Go(func() { ran = true }); !ran || !n.Hosted() {
		t.Error("the host does not run it")
	}
	s.event = func(monotime.Time) { n.life.closing.Store(true); n.announce() }
	deaths := &Deaths{}
	if d, err := n.AwaitDeparture(t.Context(), deaths); err != nil || d.Rank != 1 {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := n.AwaitDeparture(t.Context(), deaths); !errors.Is(err, failure.ErrClosed) {
		t.Error(err)
	}
}

// Packets that found no room are offered again on a host when it says that there is some, and only then.
func TestTickOffersAgain(t *testing.T) {
	s := &stage{at: 1}
	n := New(Config{Engine: engine.Config{Size: 2, Rand: func() uint64 { return 5 }, Incarnation: 1}, Host: s})
	tr := &narrow{in: make(chan []byte, 1)}
	n.Start(doorbell.NewChan(), tr)
	n.connect(1, Route{Transport: tr})
	p, err := n.Open(1, msg.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if !n.Send(p, 1, []byte{byte(i)}, false) {
			t.Fatal("it is not kept")
		}
	}
	for _, c := range []struct {
		room bool
		sent int64
	}{{false, 1}, {false, 1}, {true, 2}} {
		if n.Tick(c.room); tr.sent.Load() != c.sent {
			t.Errorf("room %t: %d packets have left, not %d", c.room, tr.sent.Load(), c.sent)
		}
	}
	n.Crash()
	tr.in <- []byte("late")
	if n.Tick(true); len(tr.in) != 1 {
		t.Error("a node that has crashed looks")
	}
}

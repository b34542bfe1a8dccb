package driver

import (
	"context"
	"testing"
	"time"

	"weft/internal/counters"
	"weft/internal/doorbell"
	"weft/internal/driver/duty"
	"weft/internal/engine"
	"weft/internal/engine/msg"
	"weft/internal/monotime"
	"weft/internal/transport"
)

// A clockwork is a Host of which a node uses the clock alone. Each look at it takes a step.
type clockwork struct {
	Host
	step  time.Duration
	at    monotime.Time
	alarm monotime.Time
}

func (c *clockwork) Now() monotime.Time {
	c.at = c.at.Add(c.step)
	return c.at
}

func (*clockwork) Enter()                   {}
func (*clockwork) Later(func())             {}
func (c *clockwork) Alarm(at monotime.Time) { c.alarm = at }

// newClocked returns a node to whose peer a sink leads, and its clock, of which each look takes a microsecond.
func newClocked(wait Waiting) (*Node, *clockwork) {
	clock := &clockwork{}
	s := &sink{bell: doorbell.NewChan()}
	n := New(Config{
		Engine: engine.Config{Size: 2, Job: 1, Incarnation: 1, Rand: func() uint64 { return 1 }}, Wait: wait, Host: clock,
	})
	n.Start(s.bell, s)
	clock.step = time.Microsecond
	return n, clock
}

// waits returns a call that waits for a message, or for one of so many bytes to be taken.
func waits(bytes int) *Call {
	c := NewCall()
	c.Msg.Kind = msg.Recv
	if bytes > 0 {
		c.Msg.Kind = msg.Send
		c.Msg.Buf = make([]byte, bytes)
	}
	c.Msg.State = msg.Pending
	return c
}

// A goroutine polls for its budget, and longer by what a receiver takes to copy a long message. It reads the clock
// once in a round, and gives up when more has passed, or at once when its context has ended.
func TestBudgetIsKept(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		budget, most time.Duration
		bytes        int
		ctx          context.Context
		looks        monotime.Time
	}{
		{budget: 20, looks: 22, ctx: t.Context()},
		{budget: 20, looks: 32, bytes: 40_000, ctx: t.Context()},
		{budget: 20, looks: 1022, bytes: 1 << 30, ctx: t.Context()},
		{budget: 20, looks: 1, ctx: ended},
	} {
		n, clock := newClocked(Waiting{Budget: c.budget * time.Microsecond})
		call := waits(c.bytes)
		n.mu.Lock()
		n.duty.Begin(&call.duty, 0)
		begin := clock.at
		if c.ctx == ended {
			n.spin(c.ctx, call, n.waiting.budget)
		} else if err := n.reap(c.ctx, call); err != nil {
			t.Error(err)
		}
		n.mu.Unlock()
		if took := clock.at - begin; took != c.looks*monotime.Time(time.Microsecond) {
			t.Errorf("a budget of %v us, %d bytes: it has polled for %d ns, not %d us", int(c.budget), c.bytes, took, c.looks)
		}
	}
}

// A wait that yields tells how long it took by the clock after its second yield.
func TestYieldsAreCounted(t *testing.T) {
	for yields, want := range []time.Duration{0, 0, 0, 3, 2, 5 * 1000 / 3} {
		n, _ := newClocked(Waiting{Yields: yields})
		c := waits(0)
		n.mu.Lock()
		n.duty.Begin(&c.duty, 0)
		n.reapYielding(c)
		n.mu.Unlock()
		if want < 1000 {
			want *= time.Microsecond
		}
		if c.polled != want {
			t.Errorf("%d yields: %v, not %v", yields, c.polled, want)
		}
	}
}

// A goroutine that the service wakes from its channel polls for its budget first.
func TestExpectationEnds(t *testing.T) {
	n, clock := newClocked(Waiting{Budget: 10 * time.Microsecond})
	for _, token := range []bool{false, true} {
		c := waits(0)
		want := 11 * time.Microsecond
		if token {
			post(c.wake)
			want = time.Microsecond
		}
		begin := clock.at
		if n.expect(c); clock.at.Sub(begin) != want {
			t.Errorf("a token %v: it has polled for %v, not %v", token, clock.at.Sub(begin), want)
		}
	}
}

// The processor is given away where there is reason to, and the next time is put off unless that was a glance.
func TestShare(t *testing.T) {
	n, _ := newClocked(Waiting{})
	const yield = monotime.Time(1000 * time.Microsecond)
	for _, c := range []struct {
		before          time.Duration
		crowded, paused bool
		want            bool
	}{
		{before: 16},
		{before: 1},
		{before: 0},
		{before: -1, want: true},
		{before: 16, paused: true, want: true},
		{before: 14, crowded: true},
		{before: 13, crowded: true},
		{before: 12, crowded: true, want: true},
		{before: -1, crowded: true, want: true},
	} {
		if got := n.share(yield.Add(-c.before*time.Microsecond), yield, c.crowded, c.paused); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

// The polling budget doubles after a short wait and shrinks by an eighth after a long one, between its bounds.
func TestBudgetAdapts(t *testing.T) {
	const us = time.Microsecond
	for _, c := range []struct{ budget, waited, most, want time.Duration }{
		{0, 5 * us, 10 * us, us},
		{3 * us, 5 * us, 10 * us, 6 * us},
		{8 * us, 5 * us, 10 * us, 10 * us},
		{8 * us, 10 * us, 10 * us, 7 * us},
		{8 * us, 11 * us, 10 * us, 7 * us},
		{us, 11 * us, 10 * us, us},
		{8 * us, 5 * us, 0, 8 * us},
	} {
		w := waiting{budget: c.budget}
		if w.adapt(c.waited, c.most); w.budget != c.want {
			t.Errorf("%+v: %v", c, w.budget)
		}
	}
}

// A node learns how long a look takes from rounds in which nothing else ran, an eighth at a time.
func TestLooksAreGauged(t *testing.T) {
	for _, c := range []struct {
		took  time.Duration
		looks int
		want  time.Duration
	}{{640, 10, 828}, {320, 10, 764}, {undistracted - 1, 16, 3199}, {undistracted, 16, 800}, {640, 0, 800}} {
		w := waiting{lookTime: firstLook}
		if w.gauge(c.took, c.looks); w.lookTime != c.want {
			t.Errorf("%d looks in %v: %d, not %d", c.looks, c.took, w.lookTime, c.want)
		}
	}
	if w := (waiting{lookTime: firstLook}); w.looked(3) != 150 {
		t.Errorf("three looks take %v", w.looked(3))
	}
}

// A wait with pauses that ended soon makes the next one poll for longer than its budget, once.
func TestPollBudget(t *testing.T) {
	for _, c := range []struct{ budget, extra, want time.Duration }{
		{0, 5 * time.Millisecond, 0}, {100, 5000, 5000}, {100, 50, 100}, {100, 0, 100},
	} {
		n, _ := newClocked(Waiting{Budget: c.budget})
		n.memory.extra.Store(int64(c.extra))
		got := n.pollBudget()
		if again := n.pollBudget(); got != c.want || again != c.budget {
			t.Errorf("%+v: %v, and then %v", c, got, again)
		}
	}
}

// The service sleeps until the engine's next time, or for as long as it is told.
func TestUntil(t *testing.T) {
	n, _ := newClocked(Waiting{})
	for _, c := range []struct{ most, want time.Duration }{{-1, -1}, {0, 0}, {duty.Tick, duty.Tick}} {
		if got := n.until(c.most); got != c.want {
			t.Errorf("at most %v: %v, not %v", c.most, got, c.want)
		}
	}
}

// A message taken the short way by a goroutine that has looked for it counts as a wait.
func TestStraightWaits(t *testing.T) {
	n, _ := newClocked(Waiting{})
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, looks := range []int{3, 0, 1} {
		n.tookStraight(nil, 1, looks, 0, msg.Whole{})
	}
	if w := n.stats.page.Node.Waits[counters.Receive]; w.Count != 2 || w.Polled != 200 || w.Slept != 0 {
		t.Errorf("%+v", w)
	}
}

// The doorbell is rung only by an action that says so.
func TestActions(t *testing.T) {
	bell := &countedBell{Doorbell: doorbell.NewChan()}
	n, _ := newClocked(Waiting{})
	n.bell = bell
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range []struct {
		action duty.Action
		rings  int64
		nudges int
		state  transport.State
	}{
		{0, 0, 0, transport.Idle},
		{duty.Nudge, 0, 1, transport.Idle},
		{duty.Ring, 1, 0, transport.Awake},
		{duty.Ring | duty.Nudge, 1, 1, transport.Awake},
		{duty.Silence, 0, 0, transport.Awake},
		{duty.Every, 0, 0, transport.Asleep},
		{duty.Urgent, 0, 0, transport.Idle},
	} {
		bell.Set(transport.Idle)
		bell.rings.Store(0)
		n.carry(c.action)
		if got := bell.rings.Load(); got != c.rings || len(n.service.nudge) != c.nudges || bell.State() != c.state {
			t.Errorf("%+v: %d rings, %d nudges, %v", c, got, len(n.service.nudge), bell.State())
		}
		select {
		case <-n.service.nudge:
		default:
		}
	}
}

// Waits that end while others have begun operations are remembered for some more waits.
func TestCompany(t *testing.T) {
	n, _ := newClocked(Waiting{})
	n.company.begun = 5
	for i, c := range []struct {
		begun uint64
		want  int32
	}{{5, 0}, {4, companion}, {5, companion - 1}, {5, companion - 2}, {6, companion}} {
		if n.learn(c.begun); n.company.waits.Load() != c.want {
			t.Errorf("%d: %d more waits", i, n.company.waits.Load())
		}
	}
}

// On a host nothing polls: the clock is not read.
func TestHostDoesNotPoll(t *testing.T) {
	n, clock := newClocked(Waiting{Budget: time.Second})
	begin := clock.at
	for _, holds := range []bool{false, true} {
		if ok, err := n.Spin(t.Context(), func() bool { return holds }); ok != holds || err != nil || clock.at != begin {
			t.Errorf("%t, %v, at %v", ok, err, clock.at)
		}
	}
}

// The deadline of a context, which is in real time, becomes one moment of the host's time.
func TestDeadlineOfHost(t *testing.T) {
	n, clock := newClocked(Waiting{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	at := n.deadline(ctx)
	if again := n.deadline(ctx); at != again || at < clock.at || at > clock.at.Add(time.Hour+time.Millisecond) {
		t.Errorf("%v, and then %v", at, again)
	}
	if at := n.deadline(t.Context()); at != monotime.Never {
		t.Errorf("%v without a deadline", at)
	}
}

// A call that has ended is not given up, though its context has ended as well.
func TestEndedIsNotGivenUp(t *testing.T) {
	n, _ := newClocked(Waiting{})
	c := waits(0)
	c.Msg.State = msg.Done
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.giveUp(c, context.Canceled); err != nil {
		t.Error(err)
	}
}

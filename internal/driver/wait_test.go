package driver

import (
	"context"
	"errors"
	"testing"

	"weft/failure"
	"weft/internal/engine/msg"
)

// long is a budget that no test uses up.
const long = 2 * patienceOfTests

// A goroutine whose budget is not spent polls for its message, and does not sleep.
func TestReaperDoesNotSleep(t *testing.T) {
	r := newRig(t, Waiting{Budget: long, InProcess: true})
	done := r.receive(t.Context(), 1, r.ports[1])
	r.until("it polls", func() bool { return r.look(1, func(n *Node) bool { return n.duty.Poller() != nil }) })
	r.send(0, "first")
	r.want(done, "first")
	if n := r.slept(1); n != 0 {
		t.Errorf("it slept %d times", n)
	}
}

// While one goroutine polls, a second one that waits parks, and the polling goroutine wakes it.
func TestReaperWakesOthers(t *testing.T) {
	r := newRig(t, Waiting{Budget: long, InProcess: true})
	here := r.open(1, 2)
	there := r.open(0, 2)
	first := r.receive(t.Context(), 1, r.ports[1])
	r.until("it polls", func() bool { return r.look(1, func(n *Node) bool { return n.duty.Poller() != nil }) })
	second := r.receive(t.Context(), 1, here)
	r.until("it is parked", func() bool { return r.look(1, func(n *Node) bool { return n.duty.Asleep() == 1 }) })
	r.sendOn(0, there, "for the second")
	r.want(second, "for the second")
	r.send(0, "for the first")
	r.want(first, "for the first")
}

// A goroutine that polls for the end of a long message makes way for one that waits for a short one: that polls
// itself, and is not woken by the other. A second long one parks, as behind any reaper.
func TestLongWaitMakesWay(t *testing.T) {
	r := newRig(t, Waiting{Budget: long, InProcess: true})
	sent := make(chan error, 2)
	send := func() {
		c := NewCall()
		defer c.Free()
		c.Msg.Kind = msg.Send
		c.Msg.Peer = 0
		c.Msg.Buf = make([]byte, 2*run)
		sent <- r.nodes[1].Message(t.Context(), r.ports[1], c)
	}
	polls := func(makesWay bool, parked int) func() bool {
		return func() bool {
			return r.look(1, func(n *Node) bool {
				p := n.duty.Poller()
				return p != nil && p.MakesWay == makesWay && n.duty.Asleep() == parked
			})
		}
	}
	go send()
	r.until("the sender polls", polls(true, 0))
	go send()
	r.until("the second sender is parked", polls(true, 1))
	done := r.receive(t.Context(), 1, r.open(1, 2))
	r.until("the receiver polls, and the senders are parked", polls(false, 2))
	r.sendOn(0, r.open(0, 2), "short")
	r.want(done, "short")
	for range 2 {
		buf := make([]byte, 2*run)
		_, c, err := r.nodes[0].Receive(t.Context(), r.ports[0], msg.Any, buf)
		if err == nil {
			err = r.nodes[0].Fetch(t.Context(), c)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := <-sent; err != nil {
			t.Error(err)
		}
	}
}

// Without a budget a goroutine sleeps on the doorbell at once, and a packet wakes it.
func TestSleeperIsWoken(t *testing.T) {
	r := newRig(t, Waiting{})
	for _, text := range []string{"first", "second", "third"} {
		done := r.receive(t.Context(), 1, r.ports[1])
		r.untilParked(1, 1)
		r.send(0, text)
		r.want(done, text)
	}
	if n := r.slept(1); n != 3 {
		t.Errorf("it slept %d times, not 3", n)
	}
}

// Of several goroutines one sleeps on the doorbell. It wakes the parked goroutines, and goes on sleeping; when it
// has its own message, the service sleeps in its place. Each of them may be that goroutine: one that sees another
// begin to poll leaves the doorbell to it.
func TestParkedAreWoken(t *testing.T) {
	r := newRig(t, Waiting{})
	first := r.receive(t.Context(), 1, r.ports[1])
	r.untilParked(1, 1)
	var done [3]<-chan result
	for i := range done {
		done[i] = r.receive(t.Context(), 1, r.open(1, uint16(i+2)))
		r.untilParked(1, i+2)
	}
	r.sendOn(0, r.open(0, 3), "second of the parked")
	r.want(done[1], "second of the parked")
	r.untilParked(1, 3)
	r.send(0, "for the sleeper")
	r.want(first, "for the sleeper")
	r.untilParked(1, 2)
	for _, i := range []int{2, 0} {
		r.sendOn(0, r.open(0, uint16(i+2)), "later")
		r.want(done[i], "later")
	}
}

// The end of a context wakes the goroutine that sleeps on the doorbell, and a parked
// goroutine; nothing is lost by it.
func TestContextEndsSleep(t *testing.T) {
	r := newRig(t, Waiting{})
	other := r.open(1, 2)
	ctx, cancel := context.WithCancel(t.Context())
	done := []<-chan result{r.receive(ctx, 1, r.ports[1])}
	r.untilParked(1, 1)
	done = append(done, r.receive(ctx, 1, other))
	r.untilParked(1, 2)
	cancel()
	for i, d := range done {
		var waited *failure.WaitError
		if got := r.end(d); !errors.Is(got.err, context.Canceled) || !errors.As(got.err, &waited) {
			t.Errorf("receive %d: %q, %v", i, got.text, got.err)
		}
	}
	r.send(0, "after")
	r.want(r.receive(t.Context(), 1, r.ports[1]), "after")
}

// When a peer is gone, a receive that waits for it ends with a PeerError.
func TestDownEndsWait(t *testing.T) {
	r := newRig(t, Waiting{})
	done := make(chan error, 1)
	go func() {
		_, _, err := r.nodes[1].Receive(t.Context(), r.ports[1], 0, nil)
		done <- err
	}()
	r.untilParked(1, 1)
	cause := errors.New("its process has ended")
	r.nodes[1].Down(0, cause, false)
	var gone *failure.PeerError
	if err := <-done; !errors.As(err, &gone) || gone.Rank != 0 {
		t.Errorf("the wait ended with %v", err)
	}
	if err := r.nodes[1].Peer(0).Gone(); err == nil {
		t.Error("the peer does not show that it is gone")
	}
}

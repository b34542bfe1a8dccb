package driver

import (
	"bytes"
	"errors"
	"testing"

	"weft/failure"
	"weft/internal/engine/msg"
	"weft/internal/transport"
)

// A node at which no goroutine waits answers all the same: its service sleeps on the
// doorbell, which an urgent packet rings.
func TestServiceAnswers(t *testing.T) {
	r := newRig(t, Waiting{})
	want := []byte("in the memory of rank 1")
	region, err := r.nodes[1].Expose("region", want, 0, false, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		r.untilServed(1, transport.Idle)
		if got, err := r.pull(0, region, len(want)); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("pulled %q, %v", got, err)
		}
	}
}

// While no goroutine waits, a message does not ring the doorbell: it is there when the
// program looks for it.
func TestMessagesDoNotWakeService(t *testing.T) {
	r := newRig(t, Waiting{})
	r.untilServed(1, transport.Idle)
	before := r.bells[1].sleeps[transport.Idle].Load()
	r.send(0, "not urgent")
	if state := r.bells[1].State(); state != transport.Idle {
		t.Errorf("the doorbell is %v after a message that is not urgent", state)
	}
	if after := r.bells[1].sleeps[transport.Idle].Load(); after != before {
		t.Errorf("the service has woken and slept again")
	}
	var got Received
	r.until("the message is found", func() (ok bool) {
		var err error
		got, ok, err = r.nodes[1].TryReceive(r.ports[1], msg.Any, make([]byte, 64))
		if err != nil {
			t.Fatal(err)
		}
		return ok
	})
	if got.N != len("not urgent") || got.From != 0 {
		t.Errorf("received %+v", got)
	}
}

// A notice of a port that is a library's service makes only what is sent to that port ring: not each packet, which a
// goroutine that polls takes, or will take.
func TestNoticeOfServiceIsUrgent(t *testing.T) {
	r := newRig(t, Waiting{})
	var ends [2]*msg.Port
	for i, n := range r.nodes {
		var err error
		if ends[i], err = n.Open(2, msg.Config{Service: true}); err != nil {
			t.Fatal(err)
		}
	}
	notice := make(chan struct{}, 1)
	r.nodes[1].Notify(ends[1], notice)
	r.untilServed(1, transport.Idle)
	before := r.bells[1].sleeps[transport.Idle].Load()
	r.send(0, "not urgent")
	if state := r.bells[1].State(); state != transport.Idle || r.bells[1].sleeps[transport.Idle].Load() != before {
		t.Errorf("the doorbell is %v after a message to another port", state)
	}
	r.sendOn(0, ends[0], "for the service")
	<-notice
}

// Close ends what waits, wherever it does, and the service; afterwards nothing touches the
// transports, and every operation fails with ErrClosed.
func TestCloseEndsAll(t *testing.T) {
	r := newRig(t, Waiting{})
	n := r.nodes[1]
	done := []<-chan result{r.receive(t.Context(), 1, r.ports[1])}
	r.untilParked(1, 1)
	done = append(done, r.receive(t.Context(), 1, r.open(1, 2)))
	r.untilParked(1, 2)
	n.Close(0, "")
	for i, d := range done {
		if got := r.end(d); !errors.Is(got.err, failure.ErrClosed) {
			t.Errorf("receive %d: %q, %v", i, got.text, got.err)
		}
	}
	select {
	case <-n.service.done:
	default:
		t.Error("the service has not ended")
	}
	polls := r.pipes[1].polls.Load()
	if _, _, err := n.Receive(t.Context(), r.ports[1], msg.Any, nil); !errors.Is(err, failure.ErrClosed) {
		t.Errorf("Receive: %v", err)
	}
	if n.Send(r.ports[1], 0, []byte("late"), true) {
		t.Error("a closed node sends")
	}
	if _, err := n.Open(3, msg.Config{}); !errors.Is(err, failure.ErrClosed) {
		t.Errorf("Open: %v", err)
	}
	if _, err := n.Expose("late", make([]byte, 8), 0, false, 0, nil); !errors.Is(err, failure.ErrClosed) {
		t.Errorf("Expose: %v", err)
	}
	if again := r.pipes[1].polls.Load(); again != polls {
		t.Errorf("its transport was looked at %d times after Close", again-polls)
	}
}

// Quit refuses what is new, and lets what is under way go on until Close.
func TestQuitRefusesWhatIsNew(t *testing.T) {
	r := newRig(t, Waiting{})
	done := r.receive(t.Context(), 1, r.ports[1])
	r.untilParked(1, 1)
	r.nodes[1].Quit()
	if _, err := r.nodes[1].Open(3, msg.Config{}); !errors.Is(err, failure.ErrClosed) {
		t.Errorf("Open: %v", err)
	}
	r.send(0, "under way")
	r.want(done, "under way")
}

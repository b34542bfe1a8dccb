package tcp

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"weft/internal/doorbell"
	"weft/internal/transport"
	"weft/internal/waittest"
)

// A side is one of two ranks, each of which has dialled the other.
type side struct {
	*Transport
	down chan error
	in   [16]transport.In
}

// crossed returns two ranks with two connections.
func crossed(t *testing.T, liveness time.Duration) (a, b *side) {
	up := make(chan int, 2)
	var sides [2]*side
	for rank := range sides {
		s := &side{down: make(chan error, 4)}
		var err error
		s.Transport, err = Open(Config{
			Rank: rank, Size: 2, Job: 7, Secret: []byte("secret"), Liveness: liveness, Bell: doorbell.NewChan(),
			Events: transport.Events{Up: func(r int) { up <- r }, Down: func(_ int, err error) { s.down <- err }},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		sides[rank] = s
	}
	for rank, s := range sides {
		if _, err := s.call(1-rank, sides[1-rank].Card()); err != nil {
			t.Fatal(err)
		}
		<-up
	}
	return sides[0], sides[1]
}

// receive polls once, and returns how many bytes came.
func (s *side) receive() (bytes int) {
	for _, p := range s.in[:s.Poll(s.in[:])] {
		bytes += len(p.Data)
	}
	s.Release()
	return bytes
}

// alive fails if the other side has been found dead.
func (s *side) alive(t *testing.T) {
	select {
	case err := <-s.down:
		t.Fatalf("rank %d takes the other for dead: %v", s.cfg.Rank, err)
	default:
	}
}

// TestPaused: a rank that does not read for longer than the liveness time, because it
// is stopped, finds everything that was sent to it when it goes on: whether it counts as
// dead is not for the kernel to say, whose clock runs on.
func TestPaused(t *testing.T) {
	const liveness = 100 * time.Millisecond
	a, b := crossed(t, liveness)
	out := []transport.Out{{Peer: 1, Payload: make([]byte, 20000)}}
	sent := 0
	for a.Send(out) == 1 {
		sent += len(out[0].Payload)
	}
	// The kernel asks for room after 200 ms, then after 400 more, and so on. A timeout of
	// its own would end the connection with one of these.
	waittest.Until(t, "the kernel has asked for room three times", func() bool {
		a.alive(t)
		info, err := unix.GetsockoptTCPInfo(a.to(1, false).stream.FD(), unix.IPPROTO_TCP, unix.TCP_INFO)
		if err != nil {
			t.Fatal(err)
		}
		a.receive()
		return info.Backoff >= 3
	})
	for got := 0; got < sent; got += b.receive() {
		a.alive(t)
		b.alive(t)
	}
}

// TestOneOfTwoEnds: packets that were sent by a connection that has broken are lost,
// also if there is another. Both sides hear of that, and neither waits for the other.
func TestOneOfTwoEnds(t *testing.T) {
	a, b := crossed(t, 0)
	a.to(1, false).stream.End()
	waittest.Until(t, "both ranks hear that a connection has ended", func() bool {
		a.receive()
		b.receive()
		return len(a.down) > 0 && len(b.down) > 0
	})
}

// TestNoDescriptors: a dialler whose peer has no descriptor left is told so, and a dialler that
// has none itself is told how many it may have.
func TestNoDescriptors(t *testing.T) {
	a, b := crossed(t, 0)
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	limit := func(n uint64) { _ = unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: n, Max: was.Max}) }
	t.Cleanup(func() { limit(was.Cur) })
	var free [2]int // the lowest descriptors
	for i := range free {
		var err error
		if free[i], err = unix.FcntlInt(uintptr(a.to(1, false).stream.FD()), unix.F_DUPFD_CLOEXEC, 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, fd := range free {
		unix.Close(fd)
	}
	limit(uint64(free[0]))
	_, err := a.call(1, b.Card())
	want := fmt.Sprintf("may have %d (ulimit -n)", free[0])
	if err == nil || !errors.Is(err, unix.EMFILE) || !strings.Contains(err.Error(), want) {
		t.Errorf("the dialler has none: %v", err)
	}
	// One for each end of the connection, and none for the stream that the listener makes of it.
	limit(uint64(free[1]) + 1)
	if _, err = a.call(1, b.Card()); err == nil || !strings.Contains(err.Error(), "ulimit -n") {
		t.Errorf("the listener has none: %v", err)
	}
}

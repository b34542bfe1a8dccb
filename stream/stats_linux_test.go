package stream

import (
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"weft/internal/control"
	"weft/internal/waittest"
)

// exchange writes n bytes from one end to the other in one direction.
func exchange(t *testing.T, from, to net.Conn, n int) {
	t.Helper()
	if _, err := from.Write(make([]byte, n)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(to, make([]byte, n)); err != nil {
		t.Fatal(err)
	}
}

// of returns what this process counts at an address, as a listener or as a dialler.
func of(t *testing.T, address string, dialled bool) Stats {
	t.Helper()
	for _, s := range Snapshot(10).Streams {
		if s.Address == address && s.Dialled == dialled {
			return s
		}
	}
	t.Fatalf("%s is not among the streams of this process", address)
	return Stats{}
}

// TestStats: a connection counts its bytes on the socket and in memory, what waits in it, and waits for room; its
// listener and its dialler have the sums, which stay when it has been closed and its memory has been given back.
func TestStats(t *testing.T) {
	l := listenAt(t, new(Config))
	path := l.Addr().String()
	dialled, accepted := connect(t, l, func() (*Conn, error) { return dialConn(t, new(Config), path), nil })
	exchange(t, dialled, accepted, 100)
	if s := dialled.Stats(); s.Written != 100 || s.Read != 0 || s.Memory || s.Peer.PID == 0 || s.Opened.IsZero() {
		t.Errorf("on the socket: %+v", s)
	}
	move(t, dialled, accepted)
	exchange(t, dialled, accepted, 1<<10)
	before := accepted.Stats()
	dialled.Write(make([]byte, 77))
	s := accepted.Stats()
	if d := dialled.Stats(); d.Queued != 77 || s.Waiting != 77 || s.Read != before.Read || d.Written != s.Read+77 {
		t.Errorf("77 bytes wait: %+v, %+v", d, s)
	}
	if s := of(t, path, false); s.Open != 1 || s.Made != 1 || len(s.Conns) != 1 || s.Conns[0].Waiting != 77 {
		t.Errorf("the listener: %+v", s)
	}
	written := make(chan bool)
	go func() {
		dialled.Write(make([]byte, 4<<20)) // more than there is room for
		close(written)
	}()
	waittest.Until(t, "the writer waits for room", func() bool { return dialled.Stats().Full > 0 })
	if _, err := io.ReadFull(accepted, make([]byte, 77+4<<20)); err != nil {
		t.Fatal(err)
	}
	<-written
	last := accepted.Stats()
	dialled.Close()
	accepted.Close()
	if s := accepted.Stats(); s.Read != last.Read || s.Written != last.Written || s.Memory || s.Waiting != 0 {
		t.Errorf("closed: %+v, before %+v", s, last)
	}
	if s := l.Stats(); s.Open != 0 || s.Made != 1 || s.Read != last.Read || s.Written != last.Written {
		t.Errorf("the listener in the end: %+v, want %+v", s, last)
	}
	if s := of(t, path, true); s.Open != 0 || s.Made != 1 || s.Written != last.Read || s.Full == 0 {
		t.Errorf("the dialler in the end: %+v", s)
	}
}

// TestStatsSleeps: a reader that sleeps until the peer writes says so.
func TestStatsSleeps(t *testing.T) {
	dialled, accepted := pair(t, configs["asleep"])
	before := accepted.Stats().Sleeps
	read := make(chan bool)
	go func() {
		accepted.Read(make([]byte, 1))
		close(read)
	}()
	waittest.Until(t, "the reader sleeps", func() bool { return accepted.Stats().Sleeps > before })
	dialled.Write([]byte{1})
	<-read
}

// TestStatsOfRefusals: what was refused and what has failed is counted on both sides, with the reason.
func TestStatsOfRefusals(t *testing.T) {
	l := listenAt(t, &Config{Allow: func(Peer) error { return errors.New("not today") }})
	path := l.Addr().String()
	go serve(l)
	c := dialConn(t, new(Config), path)
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, ErrRefused) {
		t.Fatal(err)
	}
	c.Close()
	if s := l.Stats(); s.Refused != 1 || s.Made != 0 || !strings.Contains(s.Last, "not today") {
		t.Errorf("the listener: %+v", s)
	}
	if s := of(t, path, true); s.Refused != 1 || s.Open != 0 {
		t.Errorf("the dialler: %+v", s)
	}
	nobody := filepath.Join(t.TempDir(), "nobody")
	if _, err := Dial(t.Context(), nobody); err == nil {
		t.Fatal("somebody is there")
	}
	if s := of(t, nobody, true); s.Failed != 1 || s.Made != 0 || s.Last == "" {
		t.Errorf("nobody: %+v", s)
	}
}

// TestStatsBetweenHosts: a TLS listener counts its connections and handshakes that fail, which Config.Refused is told.
func TestStatsBetweenHosts(t *testing.T) {
	told := make(chan error, 10)
	cfg := &Config{Key: noise(MinKey), Refused: func(_ Peer, err error) { told <- err }}
	l, err := cfg.listenTLS(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dialled, accepted := connect(t, l, func() (*TLSConn, error) { return cfg.dialTLS(t.Context(), l.Addr().String()) })
	exchange(t, dialled, accepted, 5000)
	if s := accepted.Stats(); s.Read != 5000 || s.Written != 0 || s.Remote != dialled.LocalAddr().String() {
		t.Errorf("%+v", s)
	}
	other := &Config{Key: append(noise(MinKey), 1)}
	if _, err := other.dialTLS(t.Context(), l.Addr().String()); err == nil {
		t.Error("another key does")
	}
	var op *net.OpError
	if err := <-told; !errors.As(err, &op) || op.Addr.(*net.TCPAddr).Port == 0 {
		t.Errorf("Config.Refused is told %v", err)
	}
	if s := l.Stats(); s.Made != 1 || s.Open != 1 || s.Refused+s.Failed != 1 || s.Last == "" {
		t.Errorf("%+v", s)
	}
	if s := of(t, l.Addr().String(), true); s.Made != 1 || s.Written != 5000 || s.Refused+s.Failed != 1 {
		t.Errorf("%+v", s)
	}
	dialled.Close()
	accepted.Close()
	waittest.Until(t, "both have gone", func() bool { return l.Stats().Open == 0 && l.Stats().Read == 5000 })
}

// TestAddressesAreBounded: a process that dials at ever new addresses keeps counters of so many, and of the rest
// together.
func TestAddressesAreBounded(t *testing.T) {
	var r register
	for i := range 3 * mostAddresses {
		r.dial("unix", strings.Repeat("x", i)).note(net.ErrClosed)
	}
	sum := uint64(0)
	for _, l := range r.all() {
		sum += l.stats(0).Failed
	}
	if n := len(r.all()); n > mostAddresses+1 || sum != 3*mostAddresses {
		t.Errorf("%d addresses with %d attempts", n, sum)
	}
}

// TestAsked: a process that listens says what it counts when it is asked, and none that does not listen any more.
func TestAsked(t *testing.T) {
	l := listenAt(t, new(Config))
	path := l.Addr().String()
	dialled, accepted := connect(t, l, func() (*Conn, error) { return dialConn(t, new(Config), path), nil })
	exchange(t, dialled, accepted, 42)
	asked := func() (found *Stats) {
		told, err := control.Ask[ProcessStats](control.Streams, dialled.Stats().Peer.PID)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range told {
			for _, s := range a.Value.Streams {
				if s.Address == path && !s.Dialled {
					found = &s
				}
			}
		}
		return found
	}
	if s := asked(); s == nil || s.Open != 1 || len(s.Conns) != 1 || s.Conns[0].Read != 42 {
		t.Errorf("%+v", s)
	}
	l.Close()
	waittest.Until(t, "it listens no more", func() bool { return asked() == nil })
}

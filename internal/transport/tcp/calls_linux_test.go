package tcp

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"weft/internal/doorbell"
	"weft/internal/handshake"
	"weft/internal/sys"
	"weft/internal/transport"
	"weft/internal/waittest"
)

// plain returns both ends of a connection over loopback.
func plain(t *testing.T) (near, far *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); s.Close() })
	return c.(*net.TCPConn), s.(*net.TCPConn)
}

// What had no room is written in parts, whole and in order, and forgotten when nobody can receive it any more.
func TestRestIsWrittenInParts(t *testing.T) {
	near, far := plain(t)
	s, err := sys.NewStream(near)
	if err != nil {
		t.Fatal(err)
	}
	c := newConn(1, s)
	sent := make([]byte, 16<<20)
	for i := range sent {
		sent[i] = byte(i / 251)
	}
	c.out = bytes.Clone(sent)
	if !c.rest() {
		t.Fatal("all of it had room")
	}
	came := make(chan []byte)
	go func() {
		b := make([]byte, len(sent))
		n, _ := io.ReadFull(far, b)
		came <- b[:n]
	}()
	waittest.Until(t, "all is written", func() bool { return !c.rest() })
	if got := <-came; !bytes.Equal(got, sent) {
		t.Errorf("%d bytes arrive, and not the %d that were sent", len(got), len(sent))
	}
	s.End()
	c.out = append(c.out, "more"...)
	if c.rest() || len(c.out) > 0 {
		t.Errorf("%d bytes are kept for a stream that has ended", len(c.out))
	}
}

// Bulk and packets that keep their order go by connections of their own, however they are mixed in one call.
func TestBulkApart(t *testing.T) {
	a, b := crossed(t, 0)
	packet := func(kind byte) transport.Out {
		return transport.Out{Peer: 1, Header: []byte{kind}, Payload: make([]byte, 100), Bulk: kind == 'b'}
	}
	for _, mix := range []string{"bobo", "oobb", "bbob", "obbo"} {
		var pkts []transport.Out
		for _, kind := range []byte(mix) {
			pkts = append(pkts, packet(kind))
		}
		if n := a.Send(pkts); n != len(pkts) {
			t.Fatalf("%s: %d packets were sent", mix, n)
		}
		came := map[*conn]string{}
		total := 0
		waittest.Until(t, "the packets arrive", func() bool {
			for _, c := range *b.conns.Load() {
				if err := c.read(); err != nil {
					t.Fatal(err)
				}
				for pkt, _ := c.next(); pkt != nil; pkt, _ = c.next() {
					came[c] += string(pkt[:1])
					total++
				}
			}
			return total == len(mix)
		})
		for _, kinds := range came {
			if strings.Contains(kinds, "b") && strings.Contains(kinds, "o") {
				t.Errorf("%s: %s came by one connection", mix, kinds)
			}
		}
	}
}

// Whatever hinders a connection is the error of Dial, and leaves none.
func TestCallsThatFail(t *testing.T) {
	none := errors.New("nobody knows")
	unsure := func(int) (bool, error) { return false, none }
	listen := func(secret string, encrypt func(int) (bool, error)) *Transport {
		x, err := Open(Config{
			Size: 2, Job: 7, Secret: []byte(secret), Bell: doorbell.NewChan(), Encrypt: encrypt,
			Events: transport.Events{Up: func(int) {}, Down: func(int, error) {}},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { x.Close() })
		return x
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	go func() {
		for c, err := silent.Accept(); err == nil; c, err = silent.Accept() {
			c.Close()
		}
	}()
	a := open(t, 1, 2, "secret", doorbell.NewChan(), transport.Events{})
	defer a.Close()
	b := open(t, 1, 2, "secret", doorbell.NewChan(), transport.Events{})
	b.cfg.Encrypt = unsure
	defer b.Close()
	for _, c := range []struct {
		what string
		from *Transport
		card string
		cut  bool
		is   error
		says string
	}{
		{"the listener does not know whether to encrypt", a, listen("secret", unsure).Card(), false, io.EOF, ""},
		{"the dialler does not", b, listen("secret", always).Card(), false, none, "nobody knows"},
		{"another secret", a, listen("other", nil).Card(), false, handshake.ErrStranger, "weft: tcp: "},
		{"a listener that says nothing", a, silent.Addr().String(), true, nil, "ended the handshake"},
	} {
		cut, err := c.from.call(0, c.card)
		if err == nil || cut != c.cut || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: cut %v, %v", c.what, cut, err)
		}
		if c.from.known(0) || len(*c.from.conns.Load()) > 0 {
			t.Errorf("%s: there is a connection", c.what)
		}
	}
	for _, card := range []string{"nonsense", "127.0.0.1:0", "host:80"} {
		if err := a.Dial(0, card); err == nil || !strings.Contains(err.Error(), "is no address:port") {
			t.Errorf("%s: %v", card, err)
		}
	}
}

// A connection that cannot be watched, or comes when the transport is closed, is not added.
func TestAddFails(t *testing.T) {
	a := open(t, 0, 2, "secret", doorbell.NewChan(), transport.Events{})
	near, _ := plain(t)
	s, err := sys.NewStream(near)
	if err != nil {
		t.Fatal(err)
	}
	s.Finish(nil)
	if err := a.add(newConn(1, s)); err == nil || a.known(1) || len(*a.conns.Load()) > 0 {
		t.Errorf("a stream that has ended: %v", err)
	}
	a.Close()
	near, _ = plain(t)
	if s, err = sys.NewStream(near); err != nil {
		t.Fatal(err)
	}
	defer s.Finish(nil)
	if err := a.add(newConn(1, s)); !errors.Is(err, net.ErrClosed) || a.known(1) {
		t.Errorf("after Close: %v", err)
	}
}

// Open that finds too few descriptors fails, says so, and keeps none.
func TestOpenWithoutDescriptors(t *testing.T) {
	open := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	limit := func(n uint64) { _ = unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: n, Max: was.Max}) }
	t.Cleanup(func() { limit(was.Cur) })
	plain(t) // Go's poller takes descriptors at the first connection, and ends the process if it gets none
	before := open()
	for have, opened := 0, false; !opened; have++ {
		limit(uint64(before + have))
		x, err := Open(Config{Size: 2, Secret: []byte("secret"), Bell: doorbell.NewChan()})
		limit(was.Cur)
		switch {
		case err == nil:
			x.Close()
			opened = true
		case !errors.Is(err, unix.EMFILE):
			t.Fatalf("%d descriptors: %v", have, err)
		}
		if after := open(); after != before {
			t.Fatalf("%d descriptors, %v: %d are kept", have, err, after-before)
		}
		if have > 50 {
			t.Fatal("50 descriptors are not enough")
		}
	}
}

// Packets to several ranks in one call go each to its own, and to forget a rank ends no connection to another one.
func TestSendToSeveral(t *testing.T) {
	var ranks [3]*Transport
	for rank := range ranks {
		ev := transport.Events{Up: func(int) {}, Down: func(int, error) {}}
		ranks[rank] = open(t, rank, len(ranks), "secret", doorbell.NewChan(), ev)
		defer ranks[rank].Close()
	}
	var pkts []transport.Out
	for _, peer := range []int{1, 1, 2, 1, 2, 2} {
		if err := ranks[0].Dial(peer, ranks[peer].Card()); err != nil {
			t.Fatal(err)
		}
		pkts = append(pkts, transport.Out{Peer: peer, Header: []byte{byte(peer)}})
	}
	if n := ranks[0].Send(pkts); n != len(pkts) {
		t.Errorf("%d packets were sent", n)
	}
	for rank := 1; rank < len(ranks); rank++ {
		got := []byte{}
		var in [8]transport.In
		waittest.Until(t, "the packets arrive", func() bool {
			for _, p := range in[:ranks[rank].Poll(in[:])] {
				got = append(got, p.Data...)
			}
			ranks[rank].Release()
			return len(got) >= 3
		})
		if !bytes.Equal(got, bytes.Repeat([]byte{byte(rank)}, 3)) {
			t.Errorf("rank %d gets those of %v", rank, got)
		}
	}
	ranks[0].Forget(1)
	for _, c := range *ranks[0].conns.Load() {
		if c.dead != (c.peer == 1) {
			t.Errorf("rank 1 is forgotten, and a connection to rank %d is dead: %v", c.peer, c.dead)
		}
	}
}

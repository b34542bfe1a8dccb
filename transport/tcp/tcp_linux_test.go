package tcp

import (
	"bytes"
	"errors"
	"net"
	"testing"

	"weft/internal/doorbell"
	"weft/transport"
	"weft/transport/transporttest"
)

func open(t testing.TB, rank, size int, secret string, bell transport.Doorbell, ev transport.Events) *Transport {
	t.Helper()
	e, err := Open(Config{Rank: rank, Size: size, Job: 7, Secret: []byte(secret), Bell: bell, Events: ev})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestTransport(t *testing.T) {
	transporttest.Run(t, func(t testing.TB, rank, size int, bell transport.Doorbell, ev transport.Events) (transport.Transport, transport.Doorbell) {
		return open(t, rank, size, "secret", bell, ev), bell
	})
}

// TestStrangers: who does not know the secret, or looks for somebody else, gets
// no connection; nor does he find one.
func TestStrangers(t *testing.T) {
	ev := transport.Events{Up: func(int) { t.Error("a stranger is up") }, Down: func(int, error) {}}
	bell := doorbell.NewChan()
	a, b := open(t, 0, 2, "secret", bell, ev), open(t, 1, 2, "other", bell, ev)
	defer a.Close()
	defer b.Close()
	if err := b.Dial(0, a.Card()); !errors.Is(err, errStranger) {
		t.Errorf("dialled with another secret: %v", err)
	}
	c := open(t, 1, 9, "secret", bell, ev)
	defer c.Close()
	if err := c.Dial(5, a.Card()); err == nil {
		t.Error("rank 0 answered for rank 5")
	}
	if len(*a.conns.Load()) != 0 {
		t.Error("there are connections")
	}
}

// TestNonsense: an authentic peer that sends no packets is cut off.
func TestNonsense(t *testing.T) {
	down := make(chan error, 4)
	up := make(chan int, 1)
	ev := transport.Events{Up: func(r int) { up <- r }, Down: func(_ int, err error) { down <- err }}
	a := open(t, 0, 2, "secret", doorbell.NewChan(), ev)
	defer a.Close()
	b := open(t, 1, 2, "secret", doorbell.NewChan(), ev)
	defer b.Close()
	c, err := net.Dial("tcp", a.Card())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := b.greet(c, 0); err != nil {
		t.Fatal(err)
	}
	<-up
	c.Write(bytes.Repeat([]byte{0xff}, 100))
	var in [4]transport.In
	for {
		if a.Poll(in[:]) != 0 {
			t.Fatal("a packet")
		}
		select {
		case err := <-down:
			if !errors.Is(err, errFrame) {
				t.Error(err)
			}
			return
		default:
		}
	}
}

// FuzzNext: no stream makes the reader go wrong.
func FuzzNext(f *testing.F) {
	f.Add([]byte{3, 0, 0, 0, 1, 2, 3, 2, 0, 0, 0, 9, 9})
	f.Add([]byte{0, 0, 0, 0})
	f.Add([]byte{1, 0, 1, 0, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		c := &conn{in: b, end: len(b)}
		for used := 0; ; {
			pkt, err := c.next()
			if pkt == nil || err != nil {
				return
			}
			if used += headSize + len(pkt); used != c.start || used > len(b) {
				t.Fatalf("%d bytes used, at %d of %d", used, c.start, len(b))
			}
		}
	})
}

package tcp

import (
	"bytes"
	"errors"
	"net"
	"testing"

	"weft/internal/doorbell"
	"weft/internal/transport"
	"weft/internal/transport/transporttest"
)

func open(t testing.TB, rank, size int, secret string, bell transport.Doorbell, ev transport.Events) *Transport {
	t.Helper()
	e, err := Open(Config{Rank: rank, Size: size, Job: 7, Secret: []byte(secret), Bell: bell, Events: ev})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// always is that of a job in which everything is encrypted.
func always(int) (bool, error) { return true, nil }

func TestTransport(t *testing.T) {
	transporttest.Run(t, func(t testing.TB, p transporttest.Place) (transport.Transport, transport.Doorbell) {
		return open(t, p.Rank, p.Size, "secret", p.Bell, p.Events), p.Bell
	})
}

func TestEncryptedTransport(t *testing.T) {
	transporttest.Run(t, func(t testing.TB, p transporttest.Place) (transport.Transport, transport.Doorbell) {
		e, err := Open(Config{
			Rank: p.Rank, Size: p.Size, Job: 7, Secret: []byte("secret"), Bell: p.Bell, Events: p.Events, Encrypt: always,
		})
		if err != nil {
			t.Fatal(err)
		}
		return e, p.Bell
	})
}

func TestStrangers(t *testing.T)          { besiege(t, nil) }
func TestEncryptedStrangers(t *testing.T) { besiege(t, always) }

func besiege(t *testing.T, encrypt func(int) (bool, error)) {
	transporttest.Strangers(t, transporttest.Guarded{
		Open: func(t testing.TB, id transporttest.Identity, ev transport.Events) transport.Transport {
			e, err := Open(Config{
				Rank: id.Rank, Size: id.Size, Job: id.Job, Secret: []byte(id.Secret),
				Bell: doorbell.NewChan(), Events: ev, Encrypt: encrypt,
			})
			if err != nil {
				t.Fatal(err)
			}
			return e
		},
		Pair:     (&Transport{cfg: Config{Job: 7, Secret: []byte("secret")}}).pair,
		Protocol: protocol,
		Listen: func() (net.Listener, string, error) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return nil, "", err
			}
			return l, l.Addr().String(), nil
		},
		Knock:    func(card string) (net.Conn, error) { return net.Dial("tcp", card) },
		Say:      func(c net.Conn, b []byte) error { _, err := c.Write(b); return err },
		Hear:     func(c net.Conn, b []byte) (int, error) { return c.Read(b) },
		Failures: func(t transport.Transport) uint64 { return t.(*Transport).door.Failures.Load() },
	})
}

// greeted returns a connection to a, rank 0, after the handshake of b: the test writes to it in the place of b.
func greeted(t testing.TB, a, b *Transport) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", a.Card())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := b.greet(c, 0); err != nil {
		t.Fatal(err)
	}
	return c
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
	c := greeted(t, a, b)
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

// TestReleaseGivesBuffersBack: what a rank has taken out of its connections holds no memory after
// Release, whether or not the rank polls again.
func TestReleaseGivesBuffersBack(t *testing.T) {
	const peers = 4
	up := make(chan int, peers)
	ev := transport.Events{Up: func(r int) { up <- r }, Down: func(int, error) {}}
	a := open(t, 0, peers+1, "secret", doorbell.NewChan(), ev)
	defer a.Close()
	for rank := 1; rank <= peers; rank++ {
		b := open(t, rank, peers+1, "secret", doorbell.NewChan(), ev)
		defer b.Close()
		c := greeted(t, a, b)
		<-up
		c.Write([]byte{1, 0, 0, 0, byte(rank)})
	}
	var in [1]transport.In
	for got := 0; got < peers; {
		n := a.Poll(in[:])
		if n > 0 && a.MemoryBytes() == 0 {
			t.Fatal("a packet on loan, and no buffer") // the test looks at the wrong thing
		}
		got += n
		a.Release()
		if held := a.MemoryBytes(); held != 0 {
			t.Fatalf("%d bytes are held after Release", held)
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

package transporttest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"testing"

	"weft/internal/handshake"
	"weft/internal/transport"
	"weft/internal/waittest"
)

// Guarded is a transport whose peers prove, when they connect, that they belong to
// the job. (PROTOCOL §7, §8)
type Guarded struct {
	// Open opens a rank.
	Open func(t testing.TB, id Identity, ev transport.Events) transport.Transport

	// Listen opens a place like that of a rank, and says what a card of it is.
	Listen func() (net.Listener, string, error)

	// Pair is two ranks of the job, and Protocol what its proofs are for.
	Pair     func(dialler, listener uint32) handshake.Pair
	Protocol string

	// Knock connects to a card, and Say and Hear exchange messages of a handshake.
	// Say adds what a proof must bring along.
	Knock func(card string) (net.Conn, error)
	Say   func(c net.Conn, b []byte) error
	Hear  func(c net.Conn, b []byte) (int, error)

	// Failures tells how often a rank could not accept a connection.
	Failures func(t transport.Transport) uint64
}

// Identity is what a process claims to be.
type Identity struct {
	Rank, Size int
	Job        uint64
	Secret     string
}

// genuine is what the ranks of the tests are.
func genuine(rank int) Identity { return Identity{rank, 3, 7, "secret"} }

// Strangers runs the tests of strangers to the job.
func Strangers(t *testing.T, g Guarded) {
	for _, c := range []struct {
		name string
		test func(*stage)
	}{
		{"wrong secret", testWrongSecret},
		{"wrong rank", testWrongRank},
		{"nonsense", testNonsense},
		{"wrong ticket", testWrongTicket},
		{"reflected proof", testReflected},
		{"reflected hello", testReflectedHello},
		{"replayed proof", testReplayed},
		{"exchanged ranks", testExchanged},
		{"half-open", testHalfOpen},
		{"no descriptors", testNoDescriptors},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &stage{T: t, Guarded: g, up: make(chan int, 2000)}
			s.victim = s.open(genuine(0))
			c.test(s)
			s.stillGood()
		})
	}
}

// A stage is rank 0, and a test of processes that want to be its peers.
type stage struct {
	*testing.T
	Guarded
	victim transport.Transport
	up     chan int // ranks that the victim takes for its peers
}

func (s *stage) open(id Identity) transport.Transport {
	up := s.up
	if s.victim != nil {
		up = make(chan int, 1)
	}
	tr := s.Open(s.T, id, transport.Events{Up: func(rank int) { up <- rank }, Down: func(int, error) {}})
	s.Cleanup(func() { tr.Close() })
	return tr
}

// stillGood makes sure that nobody has got in, and that a rank of the job does.
func (s *stage) stillGood() {
	s.Helper()
	if err := s.open(genuine(2)).Dial(0, s.victim.Card()); err != nil {
		s.Fatalf("rank 2 cannot connect any more: %v", err)
	}
	if rank := <-s.up; rank != 2 {
		s.Errorf("a stranger is taken for rank %d", rank)
	}
	if sent(&node{Transport: s.victim}, cut(1, 0, packet(0, 8))) {
		s.Error("rank 0 can send to rank 1, which is not there")
	}
}

// knock connects to the victim.
func (s *stage) knock() net.Conn {
	s.Helper()
	c, err := s.Knock(s.victim.Card())
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { c.Close() })
	c.SetDeadline(waittest.End())
	return c
}

// say and hear are those of Guarded, which must succeed.
func (s *stage) say(c net.Conn, b []byte) {
	s.Helper()
	if err := s.Say(c, b); err != nil {
		s.Fatal(err)
	}
}

func (s *stage) hear(c net.Conn, size int) []byte {
	s.Helper()
	b := make([]byte, 128)
	for n := 0; ; {
		k, err := s.Hear(c, b[n:])
		if n += k; n == size {
			return b[:n]
		}
		if err != nil || n > size {
			s.Fatalf("%d bytes, not %d: %v", n, size, err)
		}
	}
}

// refused makes sure that the victim ends a connection, having said no more than that it refuses.
func (s *stage) refused(c net.Conn, stranger string) {
	s.Helper()
	var said []byte
	for b := make([]byte, 128); ; {
		n, err := s.Hear(c, b)
		said = append(said, b[:n]...)
		if n > 0 && err == nil {
			continue
		}
		if err == nil || os.IsTimeout(err) || len(said) > 0 && !bytes.Equal(said, handshake.Refusal()) {
			s.Errorf("%s: heard %x, %v", stranger, said, err)
		}
		return
	}
}

// call returns a process that knows the secret and claims to be a rank.
func (s *stage) call(rank, wanted uint32) *handshake.Caller {
	return s.Pair(rank, wanted).Call(s.Protocol)
}

// testWrongSecret: a process that knows another secret, or is of another job, is refused,
// whichever side it is on.
func testWrongSecret(s *stage) {
	for _, id := range []Identity{{1, 3, 7, "another"}, {1, 3, 7, ""}, {1, 3, 8, "secret"}} {
		stranger := s.open(id)
		if err := stranger.Dial(0, s.victim.Card()); err == nil {
			s.Errorf("%+v found rank 0", id)
		}
		if err := s.victim.Dial(1, stranger.Card()); err == nil {
			s.Errorf("rank 0 took %+v for rank 1", id)
		}
	}
}

// testWrongRank: a rank answers for itself alone, and not to itself or to ranks that
// the job does not have.
func testWrongRank(s *stage) {
	if err := s.open(genuine(1)).Dial(2, s.victim.Card()); err == nil {
		s.Error("rank 0 answered for rank 2")
	}
	for _, ranks := range [][2]uint32{{0, 0}, {3, 0}, {1 << 31, 0}, {1, 1}} {
		c := s.knock()
		s.say(c, s.call(ranks[0], ranks[1]).Hello())
		s.refused(c, "a wrong rank")
	}
}

// testNonsense: what is no handshake ends it.
func testNonsense(s *stage) {
	c := s.knock()
	s.say(c, []byte("GET / HTTP/1.1\r\nHost: weft\r\nUser-Agent: a browser that knows nothing of ranks\r\n\r\n"))
	s.refused(c, "a web browser")
	c = s.knock()
	s.say(c, s.call(1, 0).Hello())
	s.hear(c, handshake.ReplySize)
	s.say(c, make([]byte, handshake.ProofSize))
	s.refused(c, "a proof of zeros")
}

// testWrongTicket: whatever bit of a hello is changed, the listener says nothing that depends on the secret.
func testWrongTicket(s *stage) {
	hello := s.call(1, 0).Hello()
	for at := range hello {
		changed := bytes.Clone(hello)
		changed[at] ^= 1 << (at % 8)
		c := s.knock()
		s.say(c, changed)
		s.refused(c, fmt.Sprintf("a hello that was changed at byte %d", at))
	}
}

// testReflected: what the victim has proved as a dialler is no proof of the listener that it has called.
func testReflected(s *stage) {
	l, card, err := s.Listen()
	if err != nil {
		s.Fatal(err)
	}
	defer l.Close()
	done := make(chan bool)
	go func() {
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			s.Error(err)
			return
		}
		defer c.Close()
		c.SetDeadline(waittest.End())
		hello := s.hear(c, handshake.HelloSize)
		s.say(c, append([]byte{handshake.Accepted}, hello[8:8+handshake.ReplySize-1]...)) // the victim's share as ours
		proof := s.hear(c, handshake.ProofSize)
		s.say(c, append([]byte{handshake.Accepted}, proof...))
		s.refused(c, "an impostor")
	}()
	if err := s.victim.Dial(1, card); err == nil {
		s.Error("rank 0 takes itself for rank 1")
	}
	<-done
}

// testReflectedHello: an impostor that the victim has dialled brings the victim its own hello.
func testReflectedHello(s *stage) {
	l, card, err := s.Listen()
	if err != nil {
		s.Fatal(err)
	}
	defer l.Close()
	done := make(chan error, 1)
	go func() { done <- s.victim.Dial(1, card) }()
	c, err := l.Accept()
	if err != nil {
		s.Fatal(err)
	}
	c.SetDeadline(waittest.End())
	hello := s.hear(c, handshake.HelloSize)
	for _, from := range []string{string(hello[:8]), "\x01\x00\x00\x00\x00\x00\x00\x00"} {
		back := s.knock()
		s.say(back, append([]byte(from), hello[8:]...))
		s.refused(back, "the victim's own hello")
	}
	s.say(c, handshake.Refusal())
	if err := <-done; err == nil {
		s.Error("rank 0 takes itself for rank 1")
	}
	c.Close()
}

// testExchanged: an attacker between the ranks connects a rank with another one than it
// dials. No rank is taken for another, and none talks to another than it wants.
func testExchanged(s *stage) {
	for _, c := range []struct {
		wants        int    // the rank that rank 1 looks for
		rank, wanted uint32 // what rank 0 is told
	}{{0, 2, 0}, {2, 1, 0}} {
		l, card, err := s.Listen()
		if err != nil {
			s.Fatal(err)
		}
		caller := s.open(genuine(1))
		done := make(chan error, 1)
		go func() { done <- caller.Dial(c.wants, card) }()
		here, err := l.Accept()
		if err != nil {
			s.Fatal(err)
		}
		here.SetDeadline(waittest.End())
		hello := s.hear(here, handshake.HelloSize)
		there := s.knock()
		s.say(there, append(s.call(c.rank, c.wanted).Hello()[:8], hello[8:]...))
		s.refused(there, "somebody between two ranks, with a changed hello")
		there = s.knock()
		s.say(there, hello)
		if c.wants != 0 {
			s.refused(there, "a rank that looks for another one")
		}
		s.say(here, handshake.Refusal())
		l.Close()
		here.Close()
		if err := <-done; err == nil {
			s.Errorf("rank 1 takes rank 0 for rank %d, or is taken for rank %d", c.wants, c.rank)
		}
	}
}

// testReplayed: what a genuine rank has said once proves nothing a second time.
func testReplayed(s *stage) {
	l, card, err := s.Listen()
	if err != nil {
		s.Fatal(err)
	}
	defer l.Close()
	caller := s.open(genuine(1))
	done := make(chan error, 1)
	go func() { done <- caller.Dial(0, card) }()
	c, err := l.Accept()
	if err != nil {
		s.Fatal(err)
	}
	c.SetDeadline(waittest.End())
	hello := s.hear(c, handshake.HelloSize)
	first := s.knock()
	s.say(first, hello)
	s.say(c, s.hear(first, handshake.ReplySize))
	proof := s.hear(c, handshake.ProofSize) // heard, and not passed on
	first.Close()
	again := s.knock()
	s.say(again, hello)
	s.hear(again, handshake.ReplySize)
	s.say(again, proof)
	s.refused(again, "a replay")
	c.Close()
	l.Close()
	if err := <-done; err == nil {
		s.Error("rank 1 thinks that it is connected")
	}
}

package handshake

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"testing"
)

// example is the pair of PROTOCOL's examples.
func example() Pair {
	p := Pair{Job: 0x0123456789abcdef, Dialler: 1, Listener: 2}
	for i := range byte(32) {
		p.Secret = append(p.Secret, i)
	}
	return p
}

// TestVectors: PROTOCOL §8, computed by another program.
func TestVectors(t *testing.T) {
	share := func(b byte) []byte { return bytes.Repeat([]byte{b}, shareSize) }
	s := example().session(share(0x11), share(0x22), share(0x33))
	record := s.Records("tcp records of the dialler").Append(nil, []byte("he"), []byte("llo"))
	for what, c := range map[string]struct {
		got  []byte
		want string
	}{
		"ticket": {example().ticket("tcp", share(0x11)), "c06a3d74ee9b8232fa4c59bef86182a5"},
		"proof":  {s.proof("tcp", "dialler"), "a3582b5380617b7bd6cadfc539f94dbbcec8434beac8683f69164712ff7292fd"},
		"record": {record, "05000000a78a4812c66a013646b8d50efc1cfe8dedab4581c1"},
	} {
		if got := hex.EncodeToString(c.got); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}

// converse runs both sides of an exchange, and returns what they agree on.
func converse(t *testing.T, caller, callee Pair) (dialler, listener Session, err error) {
	t.Helper()
	here, there := net.Pipe()
	c := make(calls, 1)
	c <- there
	done := make(chan error, 1)
	d := &Acceptor{Limit: 1, Handshake: func(v *Attempt) error {
		said, err := v.Answer("test", func(uint32, uint32) (Pair, error) { return callee, nil })
		if err == nil {
			listener = said.Session
			_, err = v.Conn.Write(said.Last(Accepted))
		}
		done <- err
		return err
	}}
	go d.Serve(c.accept)
	defer close(c)
	dialler, err = caller.Dial(here, "test")
	here.Close()
	return dialler, listener, errors.Join(err, <-done)
}

// TestForwardSecrecy: two exchanges of the same ranks under the same secret, in one life or two, have no key in common;
// both sides of one have the same. That holds for networks and for one host.
func TestForwardSecrecy(t *testing.T) {
	for _, local := range []bool{false, true} {
		p := example()
		p.Local = local
		seen := map[string]bool{}
		for range 10 {
			here, there, err := converse(t, p, p)
			if err != nil {
				t.Fatal(err)
			}
			key := here.Key("a test", 32)
			if !bytes.Equal(key, there.Key("a test", 32)) {
				t.Error("the two sides have different keys")
			}
			if seen[string(key)] {
				t.Error("a key comes again")
			}
			seen[string(key)] = true
		}
	}
}

// TestAnotherSecret: a dialler that does not know the secret is told so, and hears no proof.
func TestAnotherSecret(t *testing.T) {
	other := example()
	other.Secret = bytes.Clone(other.Secret)
	other.Secret[0]++
	if _, _, err := converse(t, other, example()); !errors.Is(err, ErrStranger) {
		t.Errorf("%v", err)
	}
}

// TestLowOrder: a share on which both sides could only agree on zeros is refused.
func TestLowOrder(t *testing.T) {
	caller := example().Call("test")
	if _, err := caller.Reply(append([]byte{Accepted}, make([]byte, shareSize)...)); !errors.Is(err, ErrStranger) {
		t.Errorf("%v", err)
	}
}

// TestReplyIsWhole: a reply of another kind, or of another length, is none.
func TestReplyIsWhole(t *testing.T) {
	caller := example().Call("test")
	l, err := Hear(caller.Hello(), "test", func(uint32, uint32) (Pair, error) { return example(), nil })
	if err != nil {
		t.Fatal(err)
	}
	good := l.Reply()
	refused := bytes.Clone(good)
	refused[0]++
	for name, reply := range map[string][]byte{"refused": refused, "cut": good[:len(good)-1], "longer": append(good, 0)} {
		if _, err := caller.Reply(reply); !errors.Is(err, ErrStranger) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := caller.Reply(good); err != nil {
		t.Error(err)
	}
}

// TestLastIsWhole: a last message is taken with the right proof and length only, and says whether there is room.
func TestLastIsWhole(t *testing.T) {
	caller := example().Call("test")
	l, err := Hear(caller.Hello(), "test", func(uint32, uint32) (Pair, error) { return example(), nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := caller.Reply(l.Reply()); err != nil {
		t.Fatal(err)
	}
	forged := l.Last(Accepted)
	forged[LastSize-1]++
	for name, c := range map[string]struct {
		last []byte
		want error
	}{
		"accepted": {l.Last(Accepted), nil},
		"crowded":  {l.Last(Crowded), ErrCrowded},
		"forged":   {forged, ErrStranger},
		"cut":      {l.Last(Accepted)[:LastSize-1], ErrStranger},
		"longer":   {append(l.Last(Accepted), 0), ErrStranger},
		"nothing":  {nil, ErrStranger},
	} {
		if err := caller.Last(c.last); err != c.want {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// TestHelloIsWhole: a hello of another length, or of ranks that the job has not, is refused, and tells no more.
func TestHelloIsWhole(t *testing.T) {
	hello := example().Call("test").Hello()
	unknown := errors.New("there is no such rank")
	for name, c := range map[string]struct {
		hello []byte
		find  error
		want  error
	}{
		"cut":       {hello[:HelloSize-1], nil, ErrStranger},
		"longer":    {append(bytes.Clone(hello), 0), nil, ErrStranger},
		"two bytes": {hello[:2], nil, ErrStranger},
		"unknown":   {hello, unknown, unknown},
		"known":     {hello, nil, nil},
	} {
		l, err := Hear(c.hello, "test", func(uint32, uint32) (Pair, error) { return example(), c.find })
		if err != c.want || (l == nil) != (err != nil) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// TestExchangeOnOneHost: shares of processes on one host are random numbers, on which keys depend; each is a new one.
func TestExchangeOnOneHost(t *testing.T) {
	p := example()
	p.Local = true
	if p.Call("test").private != nil || example().Call("test").private == nil {
		t.Error("a pair on one host agrees on keys, or one over a network does not")
	}
}

// failing is a connection whose n-th call fails.
type failing struct {
	net.Conn
	calls int
}

var errCable = errors.New("the cable is pulled")

func (f *failing) fails() bool {
	f.calls--
	return f.calls < 0
}

func (f *failing) Write(b []byte) (int, error) {
	if f.fails() {
		f.Close()
		return 0, errCable
	}
	return f.Conn.Write(b)
}

func (f *failing) Read(b []byte) (int, error) {
	if f.fails() {
		f.Close()
		return 0, errCable
	}
	return f.Conn.Read(b)
}

// TestExchangeEnds: each side of an exchange ends with the error of its connection, whichever message is lost.
func TestExchangeEnds(t *testing.T) {
	for calls := range 4 {
		for _, dialler := range []bool{true, false} {
			near, far := net.Pipe()
			if dialler {
				near = &failing{near, calls}
			} else {
				far = &failing{far, calls}
			}
			heard := make(chan error, 1)
			go func() {
				v := &Attempt{Conn: far, acceptor: &Acceptor{}}
				l, err := v.Answer("test", func(uint32, uint32) (Pair, error) { return example(), nil })
				if err == nil {
					_, err = far.Write(l.Last(Accepted))
				}
				heard <- err
				far.Close()
			}()
			_, err := example().Dial(near, "test")
			near.Close()
			answered := <-heard
			if mine := map[bool]error{true: err, false: answered}[dialler]; !errors.Is(mine, errCable) {
				t.Errorf("call %d of the dialler (%v): %v", calls, dialler, mine)
			}
			if !dialler && err == nil {
				t.Errorf("call %d of the listener: the dialler has a session", calls)
			}
		}
	}
}

// TestCut: a connection that ends before the reply was cut, and one that ends later was not.
func TestCut(t *testing.T) {
	for _, after := range []int{0, ReplySize} {
		here, there := net.Pipe()
		go func() {
			hello := make([]byte, HelloSize)
			io.ReadFull(there, hello)
			if after > 0 {
				l, err := Hear(hello, "test", func(uint32, uint32) (Pair, error) { return example(), nil })
				if err != nil {
					t.Error(err)
				} else {
					there.Write(l.Reply())
				}
			}
			there.Close()
		}()
		if _, err := example().Dial(here, "test"); err == nil || WasCut(err) != (after == 0) {
			t.Errorf("after %d bytes: %v", after, err)
		}
	}
}

// FuzzHear: whatever a stranger says first, it hears nothing.
func FuzzHear(f *testing.F) {
	f.Add(example().Call("test").Hello())
	f.Add(make([]byte, HelloSize))
	f.Fuzz(func(t *testing.T, hello []byte) {
		other := example()
		other.Secret = []byte("a secret that the stranger does not know")
		if _, err := Hear(hello, "test", func(uint32, uint32) (Pair, error) { return other, nil }); err == nil {
			t.Errorf("%x is taken for a hello", hello)
		}
	})
}

// A listener is one end of a connection, which says one thing, and notes what it hears.
type listener struct {
	says  *bytes.Reader
	heard int
}

func (l *listener) Read(b []byte) (int, error)  { return l.says.Read(b) }
func (l *listener) Write(b []byte) (int, error) { l.heard += len(b); return len(b), nil }

// A dialler that is refused sends no proof, and knows why.
func TestRefusedDialler(t *testing.T) {
	l := &listener{says: bytes.NewReader(make([]byte, ReplySize))}
	if _, err := example().Dial(l, "test"); !errors.Is(err, ErrStranger) || l.heard != HelloSize {
		t.Errorf("%v, after %d bytes", err, l.heard)
	}
}

package endpoint

import (
	"strings"
	"testing"
)

// sizes are those at which messages begin to travel in another way.
var sizes = []int{0, 1, 8, eager - 1, eager, eager + 1, 64 << 10, 64<<10 + 1, 3 << 20}

// Messages of all lengths arrive whole, posted first or sent first, with their tags and data.
func TestMessages(t *testing.T) {
	a, b := pair(t)
	for i, n := range sizes {
		for _, early := range []bool{true, false} {
			into := make([]byte, n+1)
			r := Receive{Kind: Tagged, Completes: true, From: 0, Tag: uint64(i), Buf: into, Base: 0x1000, Context: uintptr(i)}
			s := Send{
				Kind: Tagged, Completes: true, To: 1, Tag: uint64(i), HasData: early, Data: 77, Body: text(n, i), Context: 5,
			}
			if early {
				must(t, b.Post(&r))
			}
			send(t, a, &s)
			if !early {
				if n <= eager {
					next(t, a.sent, a, b)
				}
				for b.unexpectedNow() == 0 {
					b.Progress()
				}
				must(t, b.Post(&r))
			}
			e := next(t, b.received, a, b)
			if e.Err != ErrNone || e.Len != uint64(n) || e.Tag != uint64(i) || e.Context != uintptr(i) || e.Source != 0 {
				t.Errorf("%d bytes: %+v", n, e)
			}
			if got := e.Flags&flagData != 0 && e.Data == 77; got != early {
				t.Errorf("%d bytes: data %d, flags %x", n, e.Data, e.Flags)
			}
			same(t, into[:n], i)
			if early || n > eager {
				if e := next(t, a.sent, a, b); e.Err != ErrNone || e.Context != 5 {
					t.Errorf("%d bytes sent: %+v", n, e)
				}
			}
		}
	}
}

// The end of a short message is told when the other endpoint has it, if that is asked for, whatever others do.
func TestDelivered(t *testing.T) {
	a, b := pair(t)
	c := open(t, 2, 3)
	t.Cleanup(c.Close)
	introduce(t, a, 2, c)
	introduce(t, c, 0, a)
	send(t, a, &Send{To: 2, Completes: true, Delivered: true, Context: 1}) // both have met
	next(t, a.sent, a, c)
	b.mu.Lock()
	c.mu.Lock() // neither does anything
	for i, to := range []uint64{1, 2} {
		send(t, a, &Send{To: to, Completes: true, Delivered: true, Body: text(8, 0), Context: uintptr(10 + i)})
	}
	a.Progress()
	if *a.sent.Head != *a.sent.Tail {
		t.Error("told before it was delivered")
	}
	b.mu.Unlock()
	if e := next(t, a.sent, a, b); e.Context != 10 || e.Err != ErrNone {
		t.Errorf("delivered: %+v", e)
	}
	c.mu.Unlock()
	if e := next(t, a.sent, a, c); e.Context != 11 || e.Err != ErrNone {
		t.Errorf("delivered: %+v", e)
	}
}

// unexpectedNow returns how many messages nobody has asked for.
func (e *Endpoint) unexpectedNow() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.unexpected()
}

// A message to the endpoint itself arrives, too.
func TestSelf(t *testing.T) {
	a, b := pair(t)
	introduce(t, a, 0, a)
	for i, n := range sizes {
		into := make([]byte, n)
		must(t, a.Post(&Receive{Kind: Tagged, Completes: true, From: 0, Tag: 3, Buf: into}))
		send(t, a, &Send{Kind: Tagged, To: 0, Tag: 3, Body: text(n, i)})
		if e := next(t, a.received, a, b); e.Err != ErrNone || e.Len != uint64(n) {
			t.Errorf("%+v", e)
		}
		same(t, into, i)
	}
}

// A receive of one source, or with ignored bits, takes no other message; and the kinds of messages do not mix.
func TestMatching(t *testing.T) {
	a, b := pair(t)
	introduce(t, b, 1, b)
	into := make([]byte, 16)
	post := func(context uintptr, kind Kind, from, tag, ignore uint64) {
		must(t, b.Post(&Receive{
			Kind: kind, Completes: true, From: from, Tag: tag, Ignore: ignore, Buf: into, Context: context,
		}))
	}
	post(1, Tagged, 1, 9, 0)             // from itself
	post(2, Tagged, NotAvailable, 8, 0)  // another tag
	post(3, Plain, NotAvailable, 0, 0)   // no tag
	post(4, Tagged, NotAvailable, 1, 14) // any odd tag below 16
	for _, want := range []struct {
		kind    Kind
		tag     uint64
		context uintptr
	}{{Tagged, 9, 4}, {Plain, 0, 3}, {Tagged, 8, 2}} {
		send(t, a, &Send{Kind: want.kind, To: 1, Tag: want.tag, Body: []byte("x")})
		if e := next(t, b.received, a, b); e.Context != want.context || e.Source != 0 {
			t.Errorf("a message of kind %d with tag %d: %+v", want.kind, want.tag, e)
		}
	}
	send(t, b, &Send{Kind: Tagged, To: 1, Tag: 9})
	if e := next(t, b.received, a, b); e.Context != 1 || e.Source != 1 {
		t.Errorf("a message to itself: %+v", e)
	}
}

// An endpoint receives from one that it does not know, and can answer when it has learned the name.
func TestStranger(t *testing.T) {
	a := open(t, 0, 2)
	b := open(t, 1, 2)
	defer a.Close()
	defer b.Close()
	introduce(t, a, 0, b)
	into := make([]byte, 64<<10)
	for _, n := range []int{8, 64 << 10} {
		must(t, b.Post(&Receive{Completes: true, From: NotAvailable, Buf: into}))
		send(t, a, &Send{To: 0, Body: text(n, n)})
		if e := next(t, b.received, a, b); e.Source != NotAvailable || e.Len != uint64(n) {
			t.Errorf("%+v", e)
		}
		same(t, into[:n], n)
	}
	introduce(t, b, 0, a)
	must(t, a.Post(&Receive{Completes: true, From: 0, Buf: into}))
	send(t, b, &Send{To: 0, Body: text(8, 1)})
	if e := next(t, a.received, a, b); e.Source != 0 {
		t.Errorf("%+v", e)
	}
}

// Names of other jobs, of another endpoint with the same number, and what is no name are refused.
func TestInsertRefuses(t *testing.T) {
	a, b := pair(t)
	own := b.Name()
	for _, c := range []struct {
		says   string
		change func(*name)
	}{
		{"another job", func(n *name) { n.job++ }},
		{"same number", func(n *name) { n.life++ }},
		{"not the name", func(n *name) { n.life = 0 }},
		{"not the name", func(n *name) { n.id = maxID }},
	} {
		n, err := parseName(own[:])
		if err != nil {
			t.Fatal(err)
		}
		c.change(&n)
		text := n.bytes()
		if err := a.Insert(2, text[:]); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q, not %q", err, c.says)
		}
	}
	if err := a.Insert(2, own[:NameSize-1]); err == nil {
		t.Error("a short name is taken")
	}
}

// A message that is longer than its receive is cut off, and the receive says so.
func TestTruncated(t *testing.T) {
	a, b := pair(t)
	for _, n := range []int{100, 64 << 10, 1 << 20} {
		into := make([]byte, 10)
		must(t, b.Post(&Receive{From: 0, Buf: into}))
		send(t, a, &Send{To: 1, Body: text(n, 1)})
		if e := next(t, b.received, a, b); e.Err != ErrTruncated || e.Len != 10 || e.Over != uint64(n-10) {
			t.Errorf("%+v", e)
		}
		same(t, into, 1)
	}
}

// When a peer leaves, what waits for it ends, and nothing can be sent to it any more.
func TestPeerLeaves(t *testing.T) {
	a, b := pair(t)
	c := open(t, 0, 1)
	defer c.Close()
	introduce(t, a, 2, c)
	introduce(t, c, 0, a)
	send(t, c, &Send{To: 0, Body: []byte("x")})
	must(t, a.Post(&Receive{From: 2, Completes: true, Buf: make([]byte, 1)}))
	next(t, a.received, a, b, c)
	must(t, a.Post(&Receive{From: 2, Context: 1}))
	must(t, a.Post(&Receive{From: NotAvailable, Context: 2}))
	closed := make(chan struct{})
	go func() { // it waits until a has heard
		c.leave()
		close(closed)
	}()
	if e := next(t, a.received, a, b); e.Err != ErrAborted || e.Context != 1 {
		t.Errorf("%+v", e)
	}
	<-closed
	if err := a.Send(&Send{To: 2}); err != ErrUnreachable {
		t.Errorf("a send ends with %d", err)
	}
	must(t, a.Post(&Receive{From: 2, Context: 3}))
	if e := next(t, a.received, a, b); e.Err != ErrAborted || e.Context != 3 {
		t.Errorf("%+v", e)
	}
}

// leave is the first half of Close.
func (e *Endpoint) leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.eng.Leave("")
	e.await(e.eng.Idle, e.now().Add(patience))
}

// A peer from which nothing comes any more counts as dead.
func TestSilence(t *testing.T) {
	env := job(0, 2)
	a := &party{sent: newRing(16), received: newRing(16)}
	e, _, err := Open(Report{Sent: a.sent, Received: a.received}, &a.memory, func(name string) string {
		if name == envLiveness {
			return "100ms"
		}
		return env(name)
	})
	if err != nil {
		t.Fatal(err)
	}
	a.Endpoint = e
	defer a.Close()
	b := open(t, 1, 2)
	introduce(t, a, 1, b)
	introduce(t, b, 0, a)
	must(t, b.Post(&Receive{Completes: true, From: 0}))
	send(t, a, &Send{To: 1})
	next(t, b.received, a, b)
	b.mu.Lock() // and so it never answers again
	defer b.Close()
	defer b.mu.Unlock()
	must(t, a.Post(&Receive{From: 1, Context: 1}))
	send(t, a, &Send{To: 1, Completes: true, Body: text(1<<20, 1), Context: 2})
	must(t, a.Access(&Access{Verb: Read, To: 1, In: make([]byte, 8), Context: 3}))
	for context := range uintptr(2) {
		if e := next(t, a.sent, a); e.Err != ErrAborted || e.Context != context+2 {
			t.Errorf("%+v", e)
		}
	}
	if e := next(t, a.received, a); e.Err != ErrAborted || e.Context != 1 {
		t.Errorf("%+v", e)
	}
}

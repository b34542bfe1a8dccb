package endpoint

import "testing"

// A receive can be cancelled while no message has gone to it.
func TestCancel(t *testing.T) {
	a, b := pair(t)
	into := make([]byte, 8)
	for context := range uintptr(3) {
		must(t, b.Post(&Receive{Kind: Tagged, Completes: true, From: NotAvailable, Tag: 1, Buf: into, Context: context}))
	}
	b.Cancel(1)
	b.Cancel(17)
	if e := next(t, b.received, a, b); e.Err != ErrCanceled || e.Context != 1 {
		t.Errorf("%+v", e)
	}
	for _, want := range []uintptr{0, 2} {
		send(t, a, &Send{Kind: Tagged, To: 1, Tag: 1, Body: text(8, 1)})
		if e := next(t, b.received, a, b); e.Err != ErrNone || e.Context != want {
			t.Errorf("%+v, not of receive %d", e, want)
		}
	}
}

// A probe finds a message that has come, leaves it, claims it, or forgets it.
func TestProbe(t *testing.T) {
	a, b := pair(t)
	for _, n := range []int{8, 64 << 10, 1 << 20} {
		look := Receive{Kind: Tagged, From: NotAvailable, Tag: 1, Context: 7}
		must(t, b.Probe(&look, Peek))
		if e := next(t, b.received, a, b); e.Err != ErrNoMessage || e.Context != 7 {
			t.Errorf("nothing has come: %+v", e)
		}
		for i := range 3 {
			send(t, a, &Send{Kind: Tagged, To: 1, Tag: 1, Body: text(n, i)})
		}
		for b.unexpectedNow() < 3 {
			b.Progress()
		}
		for _, how := range []Probe{Peek, Discard, Claim} {
			must(t, b.Probe(&look, how))
			if e := next(t, b.received, a, b); e.Err != ErrNone || e.Len != uint64(n) || e.Tag != 1 || e.Source != 0 {
				t.Errorf("probe %d: %+v", how, e)
			}
		}
		into := make([]byte, n)
		must(t, b.Post(&Receive{Kind: Tagged, Completes: true, From: NotAvailable, Tag: 1, Buf: into}))
		next(t, b.received, a, b)
		same(t, into, 2) // the second one is claimed
		must(t, b.Claimed(&Receive{Kind: Tagged, Completes: true, Buf: into, Context: 7}, false))
		next(t, b.received, a, b)
		same(t, into, 1)
		send(t, a, &Send{Kind: Tagged, To: 1, Tag: 1, Body: text(n, 3)})
		for b.unexpectedNow() == 0 {
			b.Progress()
		}
		must(t, b.Probe(&look, Claim))
		next(t, b.received, a, b)
		must(t, b.Claimed(&look, true))
		if e := next(t, b.received, a, b); e.Err != ErrNone || e.Context != 7 || e.Len != 0 {
			t.Errorf("forgotten: %+v", e)
		}
		if err := b.Claimed(&look, false); err != ErrInvalid {
			t.Errorf("claimed twice: %d", err)
		}
	}
}

// A receive of several messages puts one behind the other, and its end is told with the last.
func TestSeveral(t *testing.T) {
	a, b := pair(t)
	for _, n := range []int{100, 40 << 10, 100 << 10} {
		into := make([]byte, 3*n+n/2)
		must(t, b.Post(&Receive{
			Completes: true, Several: true, Least: n, From: NotAvailable, Buf: into, Base: 0x1000, Context: 4,
		}))
		for i := range 3 {
			send(t, a, &Send{To: 1, Body: text(n, i)})
		}
		for i := range 3 {
			e := next(t, b.received, a, b)
			if e.Err != ErrNone || e.Len != uint64(n) || e.Context != 4 {
				t.Errorf("%+v", e)
			}
			if last := e.Flags&flagMultiRecv != 0; last != (i == 2) {
				t.Errorf("message %d: flags %x", i, e.Flags)
			}
		}
		for i := range 3 {
			same(t, into[i*n:][:n], i)
		}
	}
}

// A message that does not fit into what is left of such a receive goes to the next one.
func TestSeveralIsFull(t *testing.T) {
	a, b := pair(t)
	into := make([]byte, 300)
	for context := range uintptr(2) {
		must(t, b.Post(&Receive{
			Completes: true, Several: true, Least: 10, From: NotAvailable, Buf: into[context*150:][:150], Context: context,
		}))
	}
	for i := range 3 { // the last one fits into neither
		send(t, a, &Send{To: 1, Body: text(100, i)})
	}
	for _, want := range []Entry{
		{Context: 0, Len: 100}, {Context: 0, Flags: flagMultiRecv},
		{Context: 1, Len: 100}, {Context: 1, Flags: flagMultiRecv},
	} {
		e := next(t, b.received, a, b)
		if e.Context != want.Context || e.Len != want.Len || e.Flags&flagMultiRecv != want.Flags {
			t.Errorf("%+v, not %+v", e, want)
		}
	}
	must(t, b.Post(&Receive{Completes: true, From: NotAvailable, Buf: into}))
	next(t, b.received, a, b)
	same(t, into[:100], 2)
}

// Entries that find no room in a ring are not lost.
func TestRingIsFull(t *testing.T) {
	a, b := pair(t)
	const many = 100
	into := make([]byte, many)
	for i := range many {
		must(t, b.Post(&Receive{Completes: true, From: 0, Buf: into[i:][:1], Context: uintptr(i)}))
	}
	for i := range many {
		send(t, a, &Send{To: 1, Body: text(1, i)})
	}
	for i := range many {
		if e := next(t, b.received, a, b); e.Context != uintptr(i) {
			t.Fatalf("entry %d: %+v", i, e)
		}
	}
	for i, c := range into {
		if c != text(1, i)[0] {
			t.Errorf("message %d: %d", i, c)
		}
	}
}

// Of a header nothing is believed.
func FuzzHeader(f *testing.F) {
	h := header{kind: Tagged, form: apart, hasData: true, tag: 1, data: 2, length: 3}
	b := make([]byte, headSize)
	h.put(b)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		var h header
		body, ok := h.parse(b)
		if !ok {
			return
		}
		again := make([]byte, headSize)
		h.put(again)
		if string(again) != string(b[:headSize]) || h.form == inline && h.length != uint64(len(body)) {
			t.Errorf("%x is read as %+v", b, h)
		}
	})
}

// Names are read as they were written, and nothing else is one.
func FuzzName(f *testing.F) {
	n := name{id: 3, job: 4, life: 5, port: 6, mtu: 7, mac: [6]byte{2}, frames: frames{8, 9, 10}}
	n.subnet, _ = address("127.0.0.1", "")
	b := n.bytes()
	f.Add(b[:])
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := parseName(b)
		if err != nil {
			return
		}
		again := n.bytes()
		if m, err := parseName(again[:]); err != nil || m != n {
			t.Errorf("%x is read as %+v, and then as %+v (%v)", b, n, m, err)
		}
		_ = n.udpCard()
		_ = n.ethCard()
	})
}

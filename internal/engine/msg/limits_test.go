package msg

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"weft/failure"
	"weft/internal/engine/wire"
)

// Peers make a node remember so many channels that nobody has opened, and no more.
// Peers that write to one of the others are told to come again later.
func TestEarlyChannels(t *testing.T) {
	d := newRig(t, 3)
	for c := range uint16(maxEarly) {
		if got := fmt.Sprint(d.says(1, data(c+1, 0, 8))); got != fmt.Sprintf("[NACK willgo channel=%d]", c+1) {
			t.Fatalf("channel %d: %s", c+1, got)
		}
	}
	if got := fmt.Sprint(d.says(1, data(5000, 0, 8))); got != "[NACK channel=5000]" {
		t.Errorf("one channel too many: %s", got)
	}
	if got := fmt.Sprint(d.says(2, data(7, 0, 8))); got != "[NACK willgo channel=7]" {
		t.Errorf("another rank, on a channel that is known: %s", got)
	}
	revoked := append(wire.Revoke{Channel: 5001, Gone: wire.Nobody}.Append(nil), "why"...)
	if d.says(1, revoked); d.layer.Stats.Dropped != 1 {
		t.Errorf("a revocation of one too many: %+v", d.layer.Stats)
	}
	d.open(Config{}) // channel 1
	if got := fmt.Sprint(d.take(1), len(d.take(2))); got == "[] 0" {
		t.Error("a sender that came too early is not told to come")
	}
	if got := fmt.Sprint(d.says(1, data(5000, 0, 8))); got != "[NACK willgo channel=5000]" {
		t.Errorf("a channel has been opened, and another one finds no room: %s", got)
	}
	if got := fmt.Sprint(d.says(1, data(5002, 0, 8))); got != "[NACK channel=5002]" {
		t.Errorf("again one too many: %s", got)
	}
	if n := d.layer.Stats.Refused; n != maxEarly+4 {
		t.Errorf("%d are counted as refused", n)
	}
}

// The sender that was refused first is told to come first, when there is room for its message. No other
// sender overtakes it, also if there would be room for a smaller message.
func TestRefusedInOrder(t *testing.T) {
	d := newRig(t, 6)
	p := d.open(Config{RecvBuffer: 2 * MaxEager})
	d.says(1, data(1, 0, MaxEager))
	d.says(1, data(1, 1, MaxEager-64))
	refused := func(rank int, seq uint32, n int, will bool) {
		t.Helper()
		want := "[NACK channel=1"
		if will {
			want = "[NACK willgo channel=1"
		}
		if seq > 0 {
			want += fmt.Sprintf(" seq=%d", seq)
		}
		if got := fmt.Sprint(d.says(rank, data(1, seq, n))); got != want+"]" {
			t.Errorf("rank %d: %s, want %s]", rank, got, want)
		}
	}
	told := d.told
	refused(2, 0, MaxEager, true)
	refused(3, 0, 8, true)
	refused(4, 0, 8, true)
	refused(2, 0, MaxEager, true) // again: it keeps its place, and does not take another
	told("nothing has been given back")
	first, _ := p.Next(Any)
	second, _ := p.Next(Any)
	p.Release(first)
	told("room for the first", 2)
	refused(5, 0, 8, true) // what is free has been promised
	if got := d.says(2, data(1, 0, MaxEager)); len(got) != 0 {
		t.Errorf("rank 2 comes and hears %v", got)
	}
	told("it has come")
	p.Release(second)
	told("room for all", 3, 4, 5)
	d.says(5, data(1, 0, 8))
	d.says(3, data(1, 0, 8))
	if n := p.recv.used; n != MaxEager+2*64 || p.promised != 64 {
		t.Errorf("%d bytes are used, %d promised", n, p.promised)
	}
	d.layer.Down(4, &failure.PeerError{Rank: 4})
	if p.promised != 0 {
		t.Errorf("%d bytes are promised to the dead", p.promised)
	}
}

// Senders that were told to come for a receive that is then given up are refused once more, and
// keep their order among each other and before all others.
func TestTurnsAreKept(t *testing.T) {
	d := newRig(t, 5)
	p := d.open(Config{RecvBuffer: 2 * MaxEager})
	d.says(1, data(1, 0, MaxEager))
	d.says(1, data(1, 1, MaxEager))
	for _, rank := range []int{2, 3, 4} {
		d.says(rank, data(1, 0, MaxEager))
	}
	three := &Op{Kind: Recv, Peer: 3}
	p.Start(three)
	d.told("a receive from rank 3 is posted", 3)
	two := &Op{Kind: Recv, Peer: 2}
	p.Start(two)
	d.told("a receive from rank 2 is posted", 2)
	p.Cancel(three)
	p.Cancel(two)
	for _, rank := range []int{2, 3} {
		if got := fmt.Sprint(d.says(rank, data(1, 0, MaxEager))); got != "[NACK willgo channel=1]" {
			t.Errorf("rank %d comes too late and hears %s", rank, got)
		}
	}
	first, _ := p.Next(Any)
	p.Release(first)
	d.told("room for one", 2)
	second, _ := p.Next(Any)
	p.Release(second)
	d.told("room for another", 3)
}

// The room that a sender was told to come for is there when it comes, though another sender has
// been told to come since, for a receive with memory of its own.
func TestPromiseIsKept(t *testing.T) {
	d := newRig(t, 4)
	p := d.open(Config{RecvBuffer: 2 * MaxEager})
	d.says(1, data(1, 0, MaxEager))
	d.says(1, data(1, 1, MaxEager))
	d.says(2, data(1, 0, 8))
	d.says(3, data(1, 0, MaxEager))
	first, _ := p.Next(Any)
	second, _ := p.Next(Any)
	p.Release(first)
	d.told("room for rank 2, and too little for rank 3", 2)
	p.Start(&Op{Kind: Recv, Peer: 3, Buf: make([]byte, MaxEager)})
	d.told("a receive from rank 3 is posted", 3)
	if got := d.says(2, data(1, 0, 8)); len(got) != 0 {
		t.Errorf("rank 2 comes and hears %v", got)
	}
	if got := d.says(3, data(1, 0, MaxEager)); len(got) != 0 {
		t.Errorf("rank 3 comes and hears %v", got)
	}
	p.Release(second)
	if p.recv.used != 64 || p.promised != 0 {
		t.Errorf("%d bytes are used, %d promised", p.recv.used, p.promised)
	}
}

// A sender has so many messages under way, so many bytes kept for one receiver, and
// asks for an acknowledgement after every quarter.
func TestSendWindow(t *testing.T) {
	for _, first := range []uint32{0, ^uint32(0) - 100} { // numbers wrap in the second
		d := newRig(t, 3)
		p := d.open(Config{})
		to := p.pair(1)
		to.base = first
		to.sent = first
		to.next = first
		to.asked = first
		to.urged = first
		n := 0
		for ; p.Give(1, make([]byte, 8)); n++ {
		}
		var asked []int
		for i, b := range d.take(1) {
			var f wire.Data
			if f.Parse(b); f.AckReq {
				asked = append(asked, i)
			}
		}
		if n != window || !slices.Equal(asked, []int{63, 127, 191, 255}) {
			t.Errorf("from %d on: %d messages under way, acknowledgements asked for with %v", first, n, asked)
		}
		d.says(1, wire.Ack{Channel: 1, Ack: first + 3, Room: 1 << 20}.Append(nil))
		for n = 0; p.Give(1, make([]byte, 8)); n++ {
		}
		if n != 3 {
			t.Errorf("from %d on: %d more when 3 are acknowledged", first, n)
		}
		// Refused from one on: it and all after it are sent again, and what is new is held.
		d.take(1)
		d.says(1, wire.Nack{WillGo: true, Channel: 1, Seq: first + 200}.Append(nil))
		if n = len(d.says(1, wire.Go{Channel: 1, Seq: first + 200}.Append(nil))); n != window+3-200 {
			t.Errorf("from %d on: %d are sent again", first, n)
		}
		d.says(1, wire.Ack{Channel: 1, Ack: first + window + 3, Room: 1 << 20}.Append(nil))
		if lines := d.layer.Unfinished(); len(lines) > 0 {
			t.Errorf("from %d on: %v", first, lines)
		}
	}
	d := newRig(t, 3)
	p := d.open(Config{SendBuffer: 2 * MaxEager})
	for n := range 5 { // four are half of the buffer
		if got := p.Give(1, make([]byte, 8<<10)); got != (n < 4) {
			t.Errorf("message %d of 8 KiB to one rank is taken: %v", n, got)
		}
	}
	if !p.Give(2, make([]byte, MaxEager)) || p.Give(2, nil) || p.Give(0, nil) {
		t.Error("half of the buffer was left for others, and no more")
	}
	for _, long := range []int{MaxEager, MaxEager + 1} {
		d := newRig(t, 2)
		p := d.open(Config{MaxMessage: MaxEager + 1})
		p.Start(&Op{Kind: Send, Peer: 1, Buf: make([]byte, long)})
		if got := wire.Type(d.take(1)[0][0]) == wire.TypeRTS; got != (long > MaxEager) {
			t.Errorf("a message of %d bytes is announced: %v", long, got)
		}
		op := &Op{Kind: Send, Peer: 1, Buf: make([]byte, MaxEager+2)}
		if p.Start(op); !errors.Is(op.Err, failure.ErrTooLong) {
			t.Errorf("a message that is longer than allowed: %v", op.Err)
		}
	}
}

// No more than a window of long messages is announced.
func TestAnnounced(t *testing.T) {
	d := newRig(t, 2)
	p := d.open(Config{})
	buf := make([]byte, MaxEager+1)
	for range window + 1 {
		p.Start(&Op{Kind: Send, Peer: 1, Buf: buf})
	}
	count := func() (n int) {
		for _, b := range d.take(1) {
			if wire.Type(b[0]) == wire.TypeRTS {
				n++
			}
		}
		return n
	}
	if n := count(); n != window {
		t.Errorf("%d are announced", n)
	}
	if err := d.layer.Recv(1, 1, wire.Ack{Channel: 1, Ack: 1, Room: 1 << 20}.Append(nil)); err != nil {
		t.Fatal(err)
	}
	if n := count(); n != 1 {
		t.Errorf("%d more are announced when 1 is accepted", n)
	}
}

// A receive whose memory is too short for the message that comes learns so, and the next one gets it.
// An empty message is one.
func TestTooShort(t *testing.T) {
	d := newRig(t, 2)
	p := d.open(Config{})
	short := &Op{Kind: Recv, Peer: Any, Buf: make([]byte, 7)}
	p.Start(short)
	d.says(1, data(1, 0, 8))
	if long := new(failure.TooLongError); !errors.As(short.Err, &long) || short.State != Done {
		t.Errorf("8 bytes into 7: %v", short.Err)
	}
	fits := &Op{Kind: Recv, Peer: Any, Buf: make([]byte, 8)}
	if p.Start(fits); fits.State != Done || fits.Err != nil || fits.N != 8 {
		t.Errorf("8 bytes into 8: state %v, %d bytes, %v", fits.State, fits.N, fits.Err)
	}
	loan := &Op{Kind: Recv, Peer: Any}
	p.Start(loan)
	if d.says(1, data(1, 1, 0)); loan.State != Done || loan.Block == nil || loan.Block.n != 0 {
		t.Errorf("nothing at all: state %v, block %v", loan.State, loan.Block)
	}
}

// Configurations that cannot work are refused, those at the bounds are not.
func TestConfig(t *testing.T) {
	for _, c := range []struct {
		cfg Config
		ok  bool
	}{
		{Config{}, true},
		{Config{RecvBuffer: 2 * MaxEager}, true}, {Config{RecvBuffer: 2*MaxEager - 1}, false},
		{Config{RecvBuffer: -1}, false},
		{Config{RecvBuffer: 1 << 31}, true}, {Config{RecvBuffer: 1<<31 + 1}, false},
		{Config{SendBuffer: 2 * MaxEager}, true}, {Config{SendBuffer: 2*MaxEager - 1}, false},
		{Config{MaxMessage: 1}, true}, {Config{MaxMessage: -1}, false}, {Config{MaxMessage: 1 << 40}, true},
		{Config{MaxMessage: 1<<40 + 1}, false},
	} {
		if _, err := newRig(t, 2).layer.Open(1, c.cfg); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.cfg, err)
		}
	}
}

// Blocks are powers of two from 64 bytes to 32 KiB; a buffer gives out what it has,
// and makes new blocks of another class from those that are free.
func TestPool(t *testing.T) {
	for n, want := range map[int]int{0: 64, 1: 64, 64: 64, 65: 128, 128: 128, 129: 256, MaxEager/2 + 1: MaxEager,
		MaxEager: MaxEager} {
		if got := 1 << class(n); got != want {
			t.Errorf("%d bytes take %d, want %d", n, got, want)
		}
	}
	p := pool{limit: 256}
	var got []*Block
	for p.fits(64, 0) {
		got = append(got, p.get(64))
	}
	if len(got) != 4 || p.room() != 0 || p.held != 256 {
		t.Errorf("%d blocks, %d bytes left, %d held", len(got), p.room(), p.held)
	}
	for _, b := range got {
		p.put(b)
	}
	if !p.fits(128, 128) || p.fits(128, 129) || p.fits(257, 0) {
		t.Error("what is kept for others was not taken into account")
	}
	if b := p.get(64); b != got[3] {
		t.Error("the block used last is not used next")
	}
	if p.get(128); p.held > 256 || p.used != 192 {
		t.Errorf("%d bytes are held, %d in use", p.held, p.used)
	}
}

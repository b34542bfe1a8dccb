package msg

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// The room that the receiver has said bounds what is on its way; one message may
// always find out.
func TestCredit(t *testing.T) {
	t.Run("in packets", func(t *testing.T) { testCredit(newRig(t, 2)) })
	t.Run("straight", func(t *testing.T) {
		d := newRig(t, 2)
		d.connect(1)
		testCredit(d)
	})
}

func testCredit(d *rig) {
	t := d.t
	p := d.open(Config{})
	p.Give(1, make([]byte, 8))
	d.take(1)
	sent := func(what string, room uint32, ack uint32, want int) {
		t.Helper()
		n := 0
		for _, s := range d.says(1, wire.Ack{Channel: 1, Ack: ack, Room: room}.Append(nil)) {
			if s[:4] == "DATA" {
				n++
			}
		}
		for range 4 {
			p.Give(1, make([]byte, 100)) // which take 128
		}
		for _, b := range d.take(1) {
			if wire.Type(b[0]) == wire.TypeData {
				n++
			}
		}
		if n != want {
			t.Errorf("%s: %d messages leave, want %d", what, n, want)
		}
	}
	sent("room for two", 256, 1, 2)
	sent("room for three, of which two are on their way", 384, 1, 1)
	sent("none", 0, 1, 0)
	sent("none, and nothing is on its way", 0, 4, 1)
	sent("one byte too few for two more", 383, 4, 1)
}

// An acknowledgement says how much room there is: what the buffer has free, less what has been promised.
func TestRoomIsTold(t *testing.T) {
	d := newRig(t, 4)
	p := d.open(Config{RecvBuffer: 2 * MaxEager})
	asking := func(seq uint32, n int) []byte {
		f := &wire.Data{AckReq: true, Channel: 1, Seq: seq, Total: uint32(n)}
		return append(f.Append(nil), make([]byte, n)...)
	}
	room := func(what, want string) {
		t.Helper()
		var last string
		for _, b := range d.take(3) {
			last = wire.Describe(b)
		}
		if last != want {
			t.Errorf("%s: %s, want %s", what, last, want)
		}
	}
	d.layer.Recv(1, 3, asking(0, 1000))
	room("one message is there", "ACK channel=1 ack=1 room=64512")
	d.says(1, data(1, 0, MaxEager))
	d.says(1, data(1, 1, 64))
	d.says(2, data(1, 0, MaxEager)) // is refused
	first, _ := p.Next(1)
	p.Release(first) // and told to come
	d.layer.Recv(1, 3, wire.AckReq{Channel: 1}.Append(nil))
	room("1,088 bytes are taken, and 32,768 promised", "ACK channel=1 ack=1 room=31680")
}

// A sender that was refused is called when half of the buffer is free; or before, when a receive has found nothing: the
// program may keep what fills the buffer until it has more.
func TestGoWhenHalfIsFree(t *testing.T) {
	for how, hungry := range map[string]func(p *Port){
		"release": func(p *Port) {},
		"next":    func(p *Port) { p.Next(Any) },
		"recv":    func(p *Port) { p.Start(&Op{Kind: Recv, Peer: Any}) },
		"await":   func(p *Port) { p.Start(&Op{Kind: Await, Peer: Any}) },
	} {
		d := newRig(t, 3)
		p := d.open(Config{RecvBuffer: 64 << 10})
		for seq := range uint32(4) {
			d.says(1, data(1, seq, 16<<10))
		}
		d.says(2, data(1, 0, 8))
		called := string(wire.Go{Channel: 1}.Append(nil))
		calls := func() bool {
			return slices.ContainsFunc(d.take(2), func(b []byte) bool { return string(b) == called })
		}
		var kept []*Block
		for range 4 {
			b, _ := p.Next(Any)
			kept = append(kept, b)
			if len(kept) == 1 {
				p.Release(b)
			}
		}
		if calls() {
			t.Errorf("%s: it is called for the room of one message", how)
		}
		if how == "release" {
			p.Release(kept[1])
		}
		if hungry(p); !calls() {
			t.Errorf("%s: it is not called", how)
		}
	}
}

// Each refusal without a promise doubles the wait, up to a bound; an acknowledgement
// that is news ends it.
func TestBackoff(t *testing.T) {
	d := newRig(t, 2)
	p := d.open(Config{})
	p.Give(1, make([]byte, 8))
	p.Give(1, make([]byte, 8))
	d.take(1)
	now := monotime.Time(1)
	refuse := func(seq uint32, want time.Duration) {
		t.Helper()
		if err := d.layer.Recv(now, 1, wire.Nack{Channel: 1, Seq: seq}.Append(nil)); err != nil {
			t.Fatal(err)
		}
		if got := d.layer.Deadline().Sub(now); got != want {
			t.Errorf("it waits for %v, want %v", got, want)
		}
		now = d.layer.Deadline()
		if d.layer.Advance(now - 1); len(d.take(1)) != 0 {
			t.Error("it is sent again too early")
		}
		if d.layer.Advance(now); len(d.take(1)) != int(2-seq) || d.layer.Deadline() != monotime.Never {
			t.Error("it is not sent again when the time has come")
		}
	}
	for want := 50 * time.Microsecond; want < 5*time.Millisecond; want *= 2 {
		refuse(0, want)
	}
	refuse(0, 5*time.Millisecond)
	refuse(0, 5*time.Millisecond)
	d.says(1, wire.Ack{Channel: 1, Ack: 1, Room: 1 << 20}.Append(nil))
	refuse(1, 50*time.Microsecond)
	if err := d.layer.Recv(now, 1, wire.Nack{Channel: 1, Seq: 1}.Append(nil)); err != nil {
		t.Fatal(err)
	}
	d.says(1, wire.Ack{Channel: 1, Ack: 2, Room: 1 << 20}.Append(nil))
	if d.layer.Deadline() != monotime.Never {
		t.Error("everything has been accepted, and it still waits")
	}
}

// Over a lossy path messages of up to 64 KiB are given unasked to a receiver that says that it takes them, if the
// sender can keep two. (PROTOCOL §3.1)
func TestFar(t *testing.T) {
	asks := append((&wire.Data{AckReq: true, Channel: 1, Total: 8}).Append(nil), make([]byte, 8)...)
	for _, c := range []struct {
		cfg         Config
		says, gives bool // what an ACK says; whether a message of 64 KiB is given
	}{
		{Config{}, true, true},
		{Config{RecvBuffer: 2*MaxFar - 1}, false, true},
		{Config{MaxMessage: MaxFar - 1}, false, false},
		{Config{SendBuffer: 2*MaxFar - 1}, true, false},
	} {
		d := newRig(t, 2)
		p := d.open(c.cfg)
		want := "[ACK channel=1 ack=1"
		if c.says {
			want = "[ACK far channel=1 ack=1"
		}
		if got := fmt.Sprint(d.says(1, asks)); !strings.HasPrefix(got, want) {
			t.Errorf("%+v: %s", c.cfg, got)
		}
		takes := func(far, lossy bool) bool {
			p.pair(1).q.Lossy = lossy
			d.says(1, wire.Ack{Far: far, Channel: 1, Ack: p.pair(1).next, Room: 1 << 20}.Append(nil))
			if p.Give(1, make([]byte, MaxFar+1)) {
				t.Errorf("%+v: a message that is too long is given", c.cfg)
			}
			given := p.Give(1, make([]byte, MaxFar))
			d.take(1)
			return given
		}
		if takes(false, true) || takes(true, false) || takes(true, true) != c.gives {
			t.Errorf("%+v: a message of 64 KiB is given where none may be, or not where one may", c.cfg)
		}
	}
}

// A sender that goes by what an earlier port of the channel said sends 64 KiB to a buffer of 64 KiB. A message that
// the program has on loan does not shut it out. (PROTOCOL §3.1)
func TestFarToSmallBuffer(t *testing.T) {
	d := newRig(t, 3)
	p := d.open(Config{RecvBuffer: 2 * MaxEager})
	d.says(2, data(1, 0, 8))
	small, _ := p.Next(Any)
	if got := d.says(1, data(1, 0, MaxFar)); len(got) > 0 {
		t.Fatalf("the first is answered %s", got)
	}
	if got := d.says(1, data(1, 1, MaxFar)); len(got) != 1 || got[0] != "NACK willgo channel=1 seq=1" {
		t.Fatalf("the second, for which there is no room, is answered %s", got)
	}
	first, _ := p.Next(Any)
	p.Release(first)
	d.told("when the first is released", 1)
	if got := d.says(1, data(1, 1, MaxFar)); len(got) > 0 {
		t.Errorf("the second, which was told to come, is answered %s", got)
	}
	p.Release(small)
}

package tcp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"

	"weft/internal/doorbell"
	"weft/internal/handshake"
	"weft/internal/transport"
	"weft/internal/waittest"
)

// sessions are those of talk.
var sessions = map[byte]handshake.Session{}

// talk returns what two sides have in common after handshake number n.
func talk(n byte) handshake.Session {
	s, ok := sessions[n]
	if !ok {
		pair := handshake.Pair{Secret: secret(), Job: 7, Dialler: 1, Listener: 2}
		caller := pair.Call(protocol)
		find := func(uint32, uint32) (handshake.Pair, error) { return pair, nil }
		callee, err := handshake.Hear(caller.Hello(), protocol, find)
		if err == nil {
			_, err = caller.Reply(callee.Reply())
		}
		if err != nil {
			panic(err)
		}
		s = caller.Session
		sessions[n] = s
	}
	return s
}

func secret() (b []byte) {
	for i := range byte(32) {
		b = append(b, i)
	}
	return b
}

// ends are the two conns of an encrypted connection, without a stream.
func ends(nonce byte) (dialler, listener *conn) {
	dialler = &conn{}
	listener = &conn{}
	dialler.encrypt(talk(nonce), true)
	listener.encrypt(talk(nonce), false)
	return dialler, listener
}

// reads gives a conn what it would have read.
func (c *conn) reads(b []byte) {
	c.in = b
	c.start = 0
	c.end = len(b)
}

// Records arrive, of all lengths, while keys change.
func TestRecords(t *testing.T) {
	a, b := ends(1)
	a.seal.Each = 3
	b.unseal.Each = 3
	var stream []byte
	sizes := []int{1, 2, 100, 1000, mtu, 5, 7, 9, 11, 13}
	for i, n := range sizes {
		packet := bytes.Repeat([]byte{byte(i)}, n)
		stream = a.seal.Append(stream, packet[:n/2], packet[n/2:])
	}
	if bytes.Contains(stream, make([]byte, 50)) {
		t.Error("it can be read")
	}
	b.reads(stream)
	for i, n := range sizes {
		pkt, err := b.next()
		if err != nil || !bytes.Equal(pkt, bytes.Repeat([]byte{byte(i)}, n)) {
			t.Fatalf("record %d: %d bytes, %v", i, len(pkt), err)
		}
	}
	if pkt, err := b.next(); pkt != nil || err != nil || b.start != len(stream) {
		t.Errorf("%x, %v, at %d of %d", pkt, err, b.start, len(stream))
	}
}

// Whatever is changed in a stream, in whatever order records come, and whichever side has written
// them: nothing of it is taken.
func TestChangedRecords(t *testing.T) {
	a, b := ends(1)
	first := a.seal.Append(nil, []byte("first"), nil)
	second := a.seal.Append(nil, []byte("second"), nil)
	back := b.seal.Append(nil, []byte("back"), nil)
	other, _ := ends(2)
	refused := func(what string, stream []byte) {
		t.Helper()
		_, c := ends(1)
		c.reads(bytes.Clone(stream)) // it is decrypted in place
		failed := false
		for range 10 {
			pkt, err := c.next()
			if pkt != nil {
				t.Errorf("%s: %q", what, pkt)
			}
			failed = failed || err != nil
		}
		if size := headSize + int(binary.LittleEndian.Uint32(stream)) + tagSize; !failed && len(stream) >= size {
			t.Errorf("%s: no error", what)
		}
	}
	for at := range first {
		b := bytes.Clone(first)
		b[at] ^= 1 << (at % 8)
		refused("a changed byte", b)
	}
	refused("the second record alone", second)
	refused("a record that comes back", back)
	refused("a record of another handshake", other.seal.Append(nil, []byte("first"), nil))
	refused("a record that is cut short", first[:len(first)-1])
	changed := bytes.Clone(first)
	changed[headSize] ^= 1
	refused("a good record after a changed one", append(changed, second...))
	_, c := ends(1)
	c.reads(append(bytes.Clone(first), first...))
	if pkt, err := c.next(); err != nil || string(pkt) != "first" {
		t.Errorf("%q, %v", pkt, err)
	}
	if pkt, err := c.next(); !errors.Is(err, handshake.ErrChanged) {
		t.Errorf("a replay: %q, %v", pkt, err)
	}
}

// Writing and reading records allocates nothing.
func TestRecordsDoNotAllocate(t *testing.T) {
	a, b := ends(1)
	packet := make([]byte, 1000)
	buf := make([]byte, 0, 2000)
	if n := testing.AllocsPerRun(1000, func() {
		buf = a.seal.Append(buf[:0], packet[:20], packet[20:])
		b.reads(buf)
		if pkt, err := b.next(); len(pkt) != len(packet) {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzRecords: no stream makes the reader go wrong, and none that its peer has not written
// is taken.
func FuzzRecords(f *testing.F) {
	a, _ := ends(1)
	f.Add(a.seal.Append(nil, []byte("he"), []byte("llo"))[1:])
	f.Add(a.seal.Append(nil, []byte("second"), nil))
	f.Fuzz(func(t *testing.T, stream []byte) {
		_, c := ends(3)
		c.reads(stream)
		if pkt, _ := c.next(); pkt != nil || c.start > c.end {
			t.Errorf("%x, at %d of %d", pkt, c.start, c.end)
		}
	})
}

// A peer whose stream is changed on its way is gone, and nothing of what was changed has
// arrived. What passes cannot be read.
func TestTamperedStream(t *testing.T) {
	down := make(chan error, 4)
	up := make(chan int, 1)
	events := [2]transport.Events{
		{Up: func(r int) { up <- r }, Down: func(_ int, err error) { down <- err }},
		{Up: func(int) {}, Down: func(int, error) {}},
	}
	var ranks [2]*Transport
	for rank, ev := range events {
		var err error
		ranks[rank], err = Open(Config{
			Rank: rank, Size: 2, Job: 7, Secret: secret(), Bell: doorbell.NewChan(), Events: ev, Encrypt: always,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer ranks[rank].Close()
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	heard := make(chan []byte, 1)
	go tamper(l, ranks[0].Card(), heard)
	if _, err := ranks[1].call(0, l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	<-up
	text := bytes.Repeat([]byte("confidential "), 20)
	for range 3 { // the second is the one that is changed
		if ranks[1].Send([]transport.Out{{Peer: 0, Payload: text}}) != 1 {
			t.Fatal("it was not sent")
		}
	}
	got := 0
	var in [4]transport.In
	waittest.Until(t, "the change is noticed", func() bool {
		for _, p := range in[:ranks[0].Poll(in[:])] {
			if got++; !bytes.Equal(p.Data, text) {
				t.Errorf("%q", p.Data)
			}
		}
		ranks[0].Release()
		select {
		case err := <-down:
			if !errors.Is(err, handshake.ErrChanged) || got > 1 {
				t.Errorf("%d packets, then %v", got, err)
			}
			if bytes.Contains(<-heard, []byte("confidential")) {
				t.Error("it could be read")
			}
			return true
		default:
			return false
		}
	})
}

// tamper is somebody between two ranks: the connection that it accepts goes on to another
// address, with one bit changed in what the dialler says after the handshake.
func tamper(l net.Listener, to string, heard chan<- []byte) {
	here, err := l.Accept()
	if err != nil {
		return
	}
	defer here.Close()
	there, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer there.Close()
	go io.Copy(here, there)
	const said = handshake.HelloSize + handshake.ProofSize
	if _, err := io.CopyN(there, here, said); err != nil {
		return
	}
	all := make([]byte, 3*(headSize+260+tagSize))
	if _, err := io.ReadFull(here, all); err != nil {
		return
	}
	heard <- bytes.Clone(all)
	all[len(all)/2] ^= 1
	there.Write(all)
	io.Copy(there, here)
}

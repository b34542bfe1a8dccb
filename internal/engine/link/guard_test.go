package link

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"weft/internal/engine/wire"
)

// encrypt makes both ends of a rig encrypt, with a key for so few packets that it changes
// again and again.
func (r *rig) encrypt(keyBits uint8) {
	for _, e := range r.ends {
		e.self.keyBits = keyBits
		e.conn.Guard(Encrypted)
	}
}

// Encrypted links do what others do, whatever the network does to packets, while their
// keys change: every 64 packets, so that resent, late and damaged ones meet three of them.
func TestEncryptedOverBadNetworks(t *testing.T) {
	seeds(t, func(t *testing.T, seed uint64) {
		r := newRig(t, seed, Config{Window: 32, Selective: seed%2 == 0},
			faults{lose: 0.1, repeat: 0.05, corrupt: 0.05, delay: time.Millisecond})
		r.encrypt(6)
		r.run(200, 200)
		for i, e := range r.ends {
			if e.conn.auth.counter>>6 < 4 {
				t.Errorf("end %d has had %d packets: too few keys", i, e.conn.auth.counter)
			}
			if e.errs[ErrTag] == 0 || e.errs[ErrReplay] == 0 {
				t.Errorf("end %d has refused %v", i, e.errs)
			}
		}
	})
}

// A pair that loses more packets at a time than two keys are for still finds the key.
func TestKeysAreSkipped(t *testing.T) {
	r := newRig(t, 1, Config{Liveness: -1}, faults{})
	r.encrypt(2)
	r.run(5, 5)
	r.net.lose = 1
	r.ends[0].todo = 30
	for range 50 {
		r.step()
	}
	r.net.lose = 0
	r.run(0, 0)
	for !r.done(35, 5) {
		if !r.step() {
			t.Fatalf("stuck: %s", r)
		}
	}
}

// No nonce is used twice under one key, neither by packets that are sent again nor by
// those that the transport has not taken.
func TestNoncesDiffer(t *testing.T) {
	r := newRig(t, 3, Config{Window: 32}, faults{lose: 0.2, delay: time.Millisecond})
	r.encrypt(5)
	seen := map[string]bool{}
	r.tap = func(pkt []byte) {
		var f wire.Link
		if _, err := f.Parse(pkt); err != nil || f.Flags&wire.Encrypted == 0 {
			t.Fatalf("a packet that is not encrypted: %v", err)
		}
		if nonce := fmt.Sprint(f.Src, f.Counter); seen[nonce] {
			t.Fatalf("counter %d of end %d is used twice", f.Counter, f.Src)
		} else {
			seen[nonce] = true
		}
	}
	r.run(300, 300)
}

// What an encrypted packet holds is nowhere in it, and it is as long as another one.
func TestEncryptedShowsNothing(t *testing.T) {
	for _, size := range []int{4, 200, 1000, 9000} {
		c := NewConn(&Config{}, NewSelf(job, 0, 5, rigSecret), 1, 6)
		c.Guard(Encrypted)
		head := wire.Push{End: true, Op: 1, Key: 0xfeedfacecafebeef}.Append(nil)
		payload := bytes.Repeat([]byte("data"), size/4)
		c.Queue(1, head, payload)
		var out [1]Packet
		c.Output(1, out[:])
		pkt := append(bytes.Clone(out[0].Header), out[0].Payload...)
		if bytes.Contains(pkt, []byte("data")) || bytes.Contains(pkt, head[8:24]) {
			t.Errorf("%d bytes: it can be read", size)
		}
		if len(pkt) != wire.LinkSize+len(head)+len(payload) {
			t.Errorf("%d bytes of payload make a packet of %d", size, len(pkt))
		}
		to := NewConn(&Config{}, NewSelf(job, 1, 6, rigSecret), 0, 5)
		if frame, err := to.Recv(1, pkt, Encrypted, true); err != nil || !bytes.Equal(frame, append(head, payload...)) {
			t.Errorf("%d bytes: %v, and not what was sent", size, err)
		}
	}
}

// Packets that have been encrypted stay as they are until the transport has had them,
// however many Output returns, and they are not more than it takes at once.
func TestEncryptedBatch(t *testing.T) {
	for _, size := range []int{100, 1400, 8900, 16 << 10} {
		c := NewConn(&Config{FixedWindow: true}, NewSelf(job, 0, 5, rigSecret), 1, 6)
		to := NewConn(&Config{}, NewSelf(job, 1, 6, rigSecret), 0, 5)
		c.Guard(Encrypted)
		const frames = 200
		for i := range frames {
			c.Queue(1, wire.Push{Op: uint32(i)}.Append(nil), bytes.Repeat([]byte{byte(i)}, size))
		}
		var out [64]Packet
		got := 0
		for n := c.Output(1, out[:]); n > 0; n = c.Output(1, out[:]) {
			total := 0
			for _, p := range out[:n] {
				total += len(p.Header)
				frame, err := to.Recv(1, p.Header, Encrypted, true)
				if f, payload, _ := wire.ParsePush(frame); err != nil || int(f.Op) != got || len(payload) != size ||
					payload[size-1] != byte(got) {
					t.Fatalf("%d bytes: packet %d is %+v, %v", size, got, f, err)
				}
				got++
			}
			if total > sealedMost+size+200 {
				t.Errorf("%d bytes wait for the transport", total)
			}
		}
		if got != frames {
			t.Errorf("%d packets of %d bytes", got, size)
		}
	}
}

// Every guard refuses what is weaker than it, or than what its network asks for, and
// takes what is as strong.
func TestWeakerGuards(t *testing.T) {
	guards := []Guard{Checked, Tagged, Encrypted}
	for _, sent := range guards {
		for _, own := range guards {
			for _, least := range guards {
				from := NewConn(&Config{}, NewSelf(job, 0, 5, rigSecret), 1, 6)
				from.Guard(sent)
				from.Queue(1, wire.Bye{}.Append(nil), nil)
				var out [1]Packet
				from.Output(1, out[:])
				to := NewConn(&Config{}, NewSelf(job, 1, 6, rigSecret), 0, 5)
				to.Guard(own)
				frame, err := to.Recv(1, out[0].Header, least, true)
				if weak := sent < own || sent < least; weak != (err == ErrTag) || weak != (frame == nil) {
					t.Errorf("%v over a link of %v, at least %v: %v", sent, own, least, err)
				}
			}
		}
	}
}

// A path that becomes narrower, and loses what is longer in silence, is followed by an
// encrypted link as by others: parts and trials of lengths are encrypted, too.
func TestEncryptedBlackHole(t *testing.T) {
	r := full(t, 1, true, faults{lose: 0.02, delay: 50 * time.Microsecond})
	r.encrypt(6)
	parts := 0
	r.tap = func(pkt []byte) {
		var f wire.Link
		if _, err := f.Parse(pkt); err != nil || f.Flags&wire.Encrypted == 0 {
			t.Fatalf("a packet that is not encrypted: %v", err)
		}
		if f.Kind == wire.KindPart {
			parts++
		}
	}
	r.more(100)
	r.net.mtu = 1300
	r.more(200)
	if parts == 0 || r.ends[0].conn.counts.Shortened == 0 {
		t.Errorf("%d parts: %s", parts, r)
	}
}

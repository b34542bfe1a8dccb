package link

import (
	"bytes"
	"crypto/sha256"
	"testing"

	"weft/internal/engine/wire"
)

// sharing returns a process's part in agreements, without real keys: what two shares agree on follows from both and
// from the secret.
func sharing(private byte, secret []byte) Agreement {
	share := func(private byte) []byte { return bytes.Repeat([]byte{private ^ 0x55}, wire.ShareSize) }
	return Agreement{share(private), func(peer []byte) []byte {
		if peer[0] == 0 {
			return nil
		}
		root := sha256.Sum256(append([]byte{private ^ peer[0] ^ 0x55}, secret...))
		return root[:]
	}}
}

// newSealedRig is newRig for links that encrypt. End 0 knows the share of end 1; end 1 must hear that of end 0.
func newSealedRig(t *testing.T, seed uint64, cfg Config, net faults) *rig {
	r := newRig(t, seed, cfg, net)
	for i, e := range r.ends {
		e.self.keyBits = 4
		e.self.Agrees(sharing(byte(i+1), rigSecret))
		e.conn.Guard(Encrypted)
	}
	r.ends[0].conn.Agree(r.ends[1].self.agreement.Share)
	return r
}

// An attacker that knows the secret and everything else but the private keys of the processes reads no frame; and no
// two packets have a key and a nonce in common.
func TestForwardSecrecy(t *testing.T) {
	for _, selective := range []bool{false, true} {
		seeds(t, func(t *testing.T, seed uint64) {
			r := newSealedRig(t, seed, Config{Selective: selective}, faults{lose: 0.1, repeat: 0.1, delay: 50e3})
			later := [2]*Self{NewSelf(job, 0, life(0), rigSecret), NewSelf(job, 1, life(1), rigSecret)}
			for _, s := range later {
				s.keyBits = r.ends[0].self.keyBits
			}
			greets := 0
			counters := [2]map[uint64]bool{{}, {}}
			r.tap = func(pkt []byte) {
				var f wire.Link
				if _, err := f.Parse(pkt); err != nil {
					t.Fatal(err)
				}
				_, _, err := later[f.Dst].Prove(pkt)
				switch framed := f.Kind == wire.KindData || f.Kind == wire.KindPart; {
				case framed && err != ErrTag:
					t.Fatalf("%v can be read with the secret alone: %v", f.Kind, err)
				case !framed && err != nil:
					t.Fatalf("%v is not recognized: %v", f.Kind, err)
				}
				if f.Kind == wire.KindGreet {
					greets++
				}
				if counters[f.Src][f.Counter] {
					t.Fatalf("two packets of end %d have the number %d", f.Src, f.Counter)
				}
				counters[f.Src][f.Counter] = true
			}
			r.run(200, 0)
			r.run(400, 200)
			if greets == 0 || r.ends[1].conn.auth.out.root == nil {
				t.Errorf("%d GREETs", greets)
			}
		})
	}
}

// However often a GREET is lost, the frames arrive; and a share with which there is nothing to agree on does no harm.
func TestGreetLost(t *testing.T) {
	r := newSealedRig(t, 1, Config{Selective: true}, faults{})
	lost := 0
	r.loses = func(pkt []byte) bool {
		if wire.Kind(pkt[wire.KindAt]) != wire.KindGreet || lost == 3 {
			return false
		}
		lost++
		return true
	}
	r.tap = func([]byte) {
		if got := r.ends[1].got; lost < 3 && got != 0 {
			t.Fatalf("%d frames have come without a share", got)
		}
	}
	r.run(8, 0)
	for _, share := range [][]byte{nil, make([]byte, 5), make([]byte, wire.ShareSize)} {
		c := NewConn(&Config{}, r.ends[0].self, 1, 9)
		c.Guard(Encrypted)
		c.Agree(share)
		c.auth.agree(make([]byte, wire.ShareSize))
		if c.auth.out.root != nil {
			t.Errorf("share %x: a root", share)
		}
	}
}

// A process that starts again has other keys than before, although it counts from 1 again, and even if it should draw
// the same incarnation: its share is a new one. What was recorded of its earlier life is not taken.
func TestRestartHasOtherKeys(t *testing.T) {
	before := newSealedRig(t, 1, Config{}, faults{})
	var pkts [][]byte
	before.tap = func(pkt []byte) { pkts = append(pkts, pkt) }
	before.run(40, 0)
	again := newSealedRig(t, 1, Config{}, faults{})
	again.ends[1].self.Agrees(sharing(9, rigSecret))
	again.ends[0].conn = NewConn(&Config{}, again.ends[0].self, 1, life(1))
	again.ends[0].conn.Guard(Encrypted)
	again.ends[0].conn.Agree(again.ends[1].self.agreement.Share)
	numbers := map[uint64][]byte{}
	for _, pkt := range pkts {
		numbers[counterOf(pkt)] = pkt
	}
	again.tap = func(pkt []byte) {
		old := numbers[counterOf(pkt)]
		if wire.Kind(pkt[wire.KindAt]) == wire.KindData && old != nil && bytes.Equal(old[wire.TagAt:], pkt[wire.TagAt:]) {
			t.Errorf("packet %d is encrypted as in the earlier life", counterOf(pkt))
		}
	}
	again.run(4, 0)
	taken := 0
	for _, pkt := range pkts {
		if wire.Kind(pkt[wire.KindAt]) != wire.KindData || pkt[4] != 0 {
			continue
		}
		if _, err := again.ends[1].conn.Recv(again.now, pkt, Encrypted, true); err == nil {
			taken++
		}
	}
	if taken > 0 {
		t.Errorf("%d packets of the earlier life were taken", taken)
	}
}

func counterOf(pkt []byte) uint64 {
	var f wire.Link
	_, _ = f.Parse(pkt)
	return f.Counter
}

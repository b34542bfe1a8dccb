package link

import (
	"bytes"
	"testing"

	"weft/internal/engine/wire"
)

// What is good for one Self is made good for the other, with a tag or a checksum, short
// and with a payload that has a tag of its own; what is not good stays so.
func TestReseal(t *testing.T) {
	secret := []byte("secret")
	other := []byte("other")
	r := NewResealer(NewSelf(7, 2, 20, secret), NewSelf(7, 2, 20, other))
	there := NewSelf(7, 2, 20, other)
	for _, guard := range []Guard{Tagged, Checked, Encrypted} {
		c := NewConn(&Config{}, NewSelf(7, 1, 10, secret), 2, 20)
		c.Guard(guard)
		for _, size := range []int{10, 10, 1000} {
			head := wire.Push{End: true, Op: 1, Region: 2, Key: 3, Limit: uint64(size)}.Append(nil)
			c.Queue(1, head, make([]byte, size))
			var out [1]Packet
			if c.Output(1, out[:]) != 1 {
				t.Fatal("no packet")
			}
			pkt := append(bytes.Clone(out[0].Header), out[0].Payload...)
			if _, _, err := there.Prove(pkt); err != ErrTag {
				t.Errorf("guard %v, %d bytes: good before: %v", guard, size, err)
			}
			bad := bytes.Clone(pkt)
			bad[len(bad)-1] ^= 1
			before := bytes.Clone(pkt)
			sealed := bytes.Clone(r.Reseal(pkt))
			if life, g, err := there.Prove(sealed); err != nil || life != 10 || g != guard {
				t.Errorf("guard %v, %d bytes: %d, %v, %v", guard, size, life, g, err)
			}
			if !bytes.Equal(pkt, before) {
				t.Error("the packet itself was changed")
			}
			if _, _, err := there.Prove(r.Reseal(bad)); err != ErrTag {
				t.Errorf("guard %v, %d bytes: a damaged one: %v", guard, size, err)
			}
		}
	}
	if cut := []byte{1, 2, 3}; !bytes.Equal(r.Reseal(cut), cut) {
		t.Error("nonsense was changed")
	}
}

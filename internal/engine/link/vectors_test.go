package link

import (
	"encoding/hex"
	"testing"

	"weft/internal/engine/wire"
)

// What PROTOCOL §2.2 gives as examples. They were computed by another program, from
// the words of that section.
const (
	vectorFront    = "ea06b9fc54578dff8c1f6f4fc271e0c8"
	vectorBack     = "24b1a0109a8a01223ba8e21034f5d04b"
	vectorChecksum = "895c51c9ae44d30b"
	vectorTagged   = "5746020101000000efcdab8967452301" + "02000000000000000500000006000000" +
		"18171615141312110700000000000000" + "9294afd9bb81ae4a1d37cc93d4ab1155" + "01000000"
	vectorChecked = "5746020101000000efcdab8967452301" + "02000000010000000500000006000000" +
		"18171615141312110700000000000000" + "aec3c7f2eefdb3d40000000000000000" + "01000000"
	vectorTwoTags = "aae3def39c3f758d39f1f13aa30aec32"

	vectorSeal      = "4e96bd54dd222b72c1ed096df951b4f4"
	vectorNextSeal  = "847c6e15a1ea0bf17ceb08be2d2a9517"
	vectorEncrypted = "5746020101000000efcdab8967452301" + "02000000040000000500000006000000" +
		"18171615141312110700000000000000" + "c71fc0ff" + "09fba23ffef3f2f3d35784899cba1a7a"
	vectorLater = "5746020101000000efcdab8967452301" + "02000000040000000500000006000000" +
		"18171615141312110700000100000000" + "1c7ccc5d" + "85521ce32688300ff4770e7a878d5ff9"
)

const (
	vectorJob      = 0x0123456789abcdef
	vectorSender   = 0x1112131415161718
	vectorReceiver = 0x2122232425262728
)

func vectorSecret() (b []byte) {
	for i := range byte(32) {
		b = append(b, i)
	}
	return b
}

// The keys of a direction are those of PROTOCOL, and each has a label of its own.
func TestKeyVectors(t *testing.T) {
	root := NewSelf(vectorJob, 1, vectorSender, vectorSecret()).root
	d := direction{vectorJob, 1, 2, vectorSender, vectorReceiver}
	for label, want := range map[string]string{
		"weft link front": vectorFront, "weft link back": vectorBack, "weft link checksum": vectorChecksum,
	} {
		if got := hex.EncodeToString(d.derive(root, label, len(want)/2)); got != want {
			t.Errorf("%s: %s, want %s", label, got, want)
		}
	}
	for number, want := range []string{vectorSeal, vectorNextSeal} {
		if got := hex.EncodeToString(d.derive(root, labelSeal, keySize, uint64(number))); got != want {
			t.Errorf("seal %d: %s, want %s", number, got, want)
		}
	}
}

// Packets are those of PROTOCOL, byte by byte, and are taken.
func TestPacketVectors(t *testing.T) {
	cfg := Config{FirstSeq: 5}
	for _, v := range []struct {
		guard   Guard
		counter uint64 // before the packet
		want    string
	}{{Tagged, 6, vectorTagged}, {Checked, 6, vectorChecked}, {Encrypted, 6, vectorEncrypted}, {Encrypted, 1<<24 + 6,
		vectorLater}} {
		guard := v.guard
		want := v.want
		self := NewSelf(vectorJob, 1, vectorSender, vectorSecret())
		c := NewConn(&cfg, self, 2, vectorReceiver)
		c.Guard(guard)
		c.recv.expected = 6
		c.auth.counter = v.counter
		c.Queue(1, wire.Bye{}.Append(nil), nil)
		var out [1]Packet
		c.Output(1, out[:])
		if got := hex.EncodeToString(out[0].Header); got != want || out[0].Payload != nil {
			t.Errorf("guard %v: %s, want %s", guard, got, want)
		}
		pkt, err := hex.DecodeString(want)
		if err != nil {
			t.Fatal(err)
		}
		peer := NewSelf(vectorJob, 2, vectorReceiver, vectorSecret())
		if life, g, err := peer.Prove(pkt); err != nil || life != vectorSender || g != guard {
			t.Errorf("guard %v: proves %#x, %v, %v", guard, life, g, err)
		}
	}
}

// A long payload has a tag of its own under the back key.
func TestTwoTagsVector(t *testing.T) {
	c := NewConn(&Config{FirstSeq: 6}, NewSelf(vectorJob, 1, vectorSender, vectorSecret()), 2, vectorReceiver)
	c.recv.expected = 6
	c.auth.counter = 7
	payload := make([]byte, 300)
	for i := range payload {
		payload[i] = byte(i)
	}
	c.Queue(1, wire.Push{End: true, Op: 1, Region: 2, Key: 3, Limit: 300}.Append(nil), payload)
	var out [1]Packet
	c.Output(1, out[:])
	if got := hex.EncodeToString(out[0].Header[wire.LinkSize-wire.TagSize : wire.LinkSize]); got != vectorTwoTags {
		t.Errorf("%s, want %s", got, vectorTwoTags)
	}
	peer := NewSelf(vectorJob, 2, vectorReceiver, vectorSecret())
	pkt := append(out[0].Header, payload...)
	if _, _, err := peer.Prove(pkt); err != nil {
		t.Error(err)
	}
	pkt[len(pkt)-1]++
	if _, _, err := peer.Prove(pkt); err != ErrTag {
		t.Errorf("with another payload: %v", err)
	}
}

// No two directions have a key in common: other ranks, another job, and another
// incarnation of either end have others. So a process that starts again under the
// same secret may begin to count at 1.
func TestKeysDiffer(t *testing.T) {
	root := NewSelf(vectorJob, 1, vectorSender, vectorSecret()).root
	d := direction{vectorJob, 1, 2, vectorSender, vectorReceiver}
	all := []direction{
		d, {d.job + 1, 1, 2, vectorSender, vectorReceiver}, {d.job, 2, 1, vectorSender, vectorReceiver},
		{d.job, 1, 3, vectorSender, vectorReceiver},
		{d.job, 2, 1, vectorReceiver, vectorSender}, // the way back
		{d.job, 1, 2, vectorSender + 1, vectorReceiver}, {d.job, 1, 2, vectorSender, vectorReceiver + 1<<32},
	}
	seen := map[string]direction{}
	for _, d := range all {
		for i, label := range []string{labelFront, labelBack, labelChecksum, labelSeal, labelSeal, labelSeal} {
			var number []uint64
			if label == labelSeal {
				number = []uint64{uint64(i)}
			}
			key := string(d.derive(root, label, keySize, number...))
			if other, ok := seen[key]; ok {
				t.Errorf("%+v has a key of %+v", d, other)
			}
			seen[key] = d
		}
	}
	if len(seen) != 6*len(all) {
		t.Errorf("%d keys", len(seen))
	}
}

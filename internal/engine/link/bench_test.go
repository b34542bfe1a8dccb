package link

import (
	"bytes"
	"fmt"
	"testing"

	"weft/internal/engine/wire"
)

// The benchmarks of guards are of whole packets: of 64 bytes of payload, and as long as
// UDP carries them at an MTU of 1500 and of 9000.
func guarding(b *testing.B, run func(b *testing.B, g Guard, front, payload []byte)) {
	for _, g := range []Guard{Checked, Tagged, Encrypted} {
		for _, size := range []int{wire.LinkSize + wire.DataSize + 64, 1472, 8972} {
			b.Run(fmt.Sprintf("guard=%v/packet=%d", g, size), func(b *testing.B) {
				front := (&wire.Link{Kind: wire.KindData, Src: 0, Dst: 1, Job: job, Incarnation: 5, Counter: 1,
					Flags: g.flag()}).Append(nil)
				front = (&wire.Data{Channel: 1, Total: uint32(size)}).Append(front)
				payload := make([]byte, size-len(front))
				if len(payload) <= maxJoined {
					front = append(front, payload...)
					payload = nil
				}
				b.SetBytes(int64(size))
				b.ReportAllocs()
				run(b, g, front, payload)
			})
		}
	}
}

// BenchmarkGuard is what a guard costs the sender of a packet.
func BenchmarkGuard(b *testing.B) {
	guarding(b, func(b *testing.B, g Guard, front, payload []byte) {
		self := NewSelf(job, 0, 5, rigSecret)
		s := self.sender(1, 6)
		var p Packet
		for b.Loop() {
			self.sealed = self.sealed[:0]
			s.guarded(&p, g, 1, front, payload)
		}
	})
}

// BenchmarkOpen is what it costs the receiver.
func BenchmarkOpen(b *testing.B) {
	guarding(b, func(b *testing.B, g Guard, front, payload []byte) {
		here := NewSelf(job, 0, 5, rigSecret)
		there := NewSelf(job, 1, 6, rigSecret)
		sender := here.sender(1, 6)
		var p Packet
		sender.guarded(&p, g, 1, front, payload)
		pkt := append(bytes.Clone(p.Header), p.Payload...)
		var f wire.Link
		if _, err := f.Parse(pkt); err != nil {
			b.Fatal(err)
		}
		s := there.receiver(0, 5)
		for b.Loop() {
			if _, ok := s.open(&f, pkt); !ok {
				b.Fatal("it is not right")
			}
		}
	})
}

// BenchmarkProve is what a packet costs of a rank to which there is no link, or one whose
// key is not known yet.
func BenchmarkProve(b *testing.B) {
	for _, g := range []Guard{Checked, Tagged, Encrypted} {
		b.Run("guard="+g.String(), func(b *testing.B) {
			var out [1]Packet
			c := NewConn(&Config{}, NewSelf(job, 0, 5, []byte("another")), 1, 2)
			c.Guard(g)
			c.Queue(1, make([]byte, 8), nil)
			c.Output(1, out[:])
			self := NewSelf(job, 1, 2, rigSecret)
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := self.Prove(out[0].Header); err != ErrTag {
					b.Fatal(err)
				}
			}
		})
	}
}

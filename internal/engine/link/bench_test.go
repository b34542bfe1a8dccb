package link

import "testing"

// BenchmarkSign is what authentication costs a packet at each end.
func BenchmarkSign(b *testing.B) {
	self := NewSelf(job, 0, 1, rigSecret)
	s := newSigner(self.root, self.to(1, 2))
	for _, c := range []struct {
		name           string
		front, payload int
	}{{"150 bytes", 150, 0}, {"9000 bytes", 100, 9000}} {
		b.Run(c.name, func(b *testing.B) {
			front, payload := make([]byte, c.front), make([]byte, c.payload)
			b.ReportAllocs()
			for b.Loop() {
				s.sign(1, front, payload)
			}
		})
	}
}

// BenchmarkProve is what a packet costs of a rank to which there is no link.
func BenchmarkProve(b *testing.B) {
	var out [1]Packet
	c := NewConn(&Config{}, NewSelf(job, 0, 5, []byte("another")), 1, 2)
	c.Queue(1, make([]byte, 8), nil)
	c.Output(1, out[:])
	self := NewSelf(job, 1, 2, rigSecret)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := self.Prove(out[0].Header); err != ErrTag {
			b.Fatal(err)
		}
	}
}

package link

import "testing"

// BenchmarkSign is what authentication costs a packet at each end.
func BenchmarkSign(b *testing.B) {
	s := newSigner(make([]byte, 32), 0, 1, 1)
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

package fm

import (
	"context"
	"encoding/binary"
	"sync"
	"testing"

	"weft"
	"weft/internal/endpoint"
)

// FuzzHandle: whatever packets another rank sends, one after the other, handlers get only bytes of theirs, no more than
// were announced.
func FuzzHandle(f *testing.F) {
	var es [2]*Endpoint
	over := make(chan bool)
	ended := make(chan error)
	var ready sync.WaitGroup
	ready.Add(2)
	go func() {
		ended <- weft.Local(context.Background(), 2, func(ctx context.Context, p *weft.Proc) (err error) {
			es[p.Rank()], err = Open(ctx, p, 1, []Handler{{Name: "take", Func: func(m *Message) error {
				got := 0
				for b := make([]byte, 7); got < m.Length; {
					n, err := m.Receive(b[:min(len(b), m.Length-got)])
					if got += n; err != nil {
						return err
					}
				}
				return nil
			}}, {Name: "leave", Func: func(m *Message) error { return nil }}}, nil)
			ready.Done()
			<-over
			return err
		})
	}()
	ready.Wait()
	f.Cleanup(func() {
		close(over)
		if err := <-ended; err != nil {
			f.Error(err)
		}
	})
	for kind := kindPacket; kind <= kinds; kind++ {
		for flags := range byte(4) {
			f.Add(kind, flags, byte(0), uint32(10), uint32(0), make([]byte, 5))
			f.Add(kind, flags, byte(1), uint32(1)<<31, uint32(1)<<31, make([]byte, 100))
			f.Add(kind, flags, byte(9), uint32(0), uint32(3), []byte{})
		}
	}
	f.Fuzz(func(t *testing.T, kind, flags, h byte, length, back uint32, data []byte) {
		b := make([]byte, headSize, largest)
		es[1].ep.Head(b, max(kind, endpoint.FirstKind), flags, uint16(h))
		binary.LittleEndian.PutUint32(b[8:], length)
		binary.LittleEndian.PutUint32(b[12:], back)
		b = append(b, data[:min(len(data), largest-headSize)]...)
		if err := es[0].ep.Port.Send(t.Context(), 1, b); err != nil {
			t.Fatal(err)
		}
		if err := es[1].Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, e := range []*Endpoint{es[1], es[0]} {
			_, _ = e.Extract(1 << 20) // of the errors of handlers
			if c := e.peers[1-e.ep.Me].credit; c > e.credits {
				t.Fatalf("%d credits of %d", c, e.credits)
			}
		}
	})
}

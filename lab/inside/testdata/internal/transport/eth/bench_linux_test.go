package eth

import (
	"runtime"
	"testing"

	"weft/internal/doorbell"
	"weft/internal/transport"
)

// BenchmarkFrames sends frames to a receiver that polls.
func BenchmarkFrames(b *testing.B) {
	for name, size := range map[string]int{"64": 64, "1484": 1484, "8984": 8984} {
		for bname, batch := range map[string]int{"single": 1, "batch": 64} {
			b.Run(name+"/"+bname, func(b *testing.B) {
				l := network(b, 2, max(1500, size+16))
				bell := doorbell.NewFutex(new(uint32))
				src := on(b, l.Hosts[0], Config{Job: 7, Rank: 0, Bell: bell})
				dst := on(b, l.Hosts[1], Config{Job: 7, Rank: 1, Bell: bell})
				defer src.Close()
				defer dst.Close()
				src.Dial(1, dst.Card())
				done := make(chan struct{})
				got := 0
				stop := make(chan struct{})
				go func() {
					runtime.LockOSThread()
					defer close(done)
					var in [64]transport.In
					for {
						if n := dst.Poll(in[:]); n > 0 {
							got += n
							dst.Release()
						}
						select {
						case <-stop:
							return
						default:
						}
					}
				}()
				out := make([]transport.Out, batch)
				for i := range out {
					out[i] = transport.Out{Peer: 1, Header: make([]byte, 64), Payload: make([]byte, size-64)}
				}
				b.SetBytes(int64(size))
				sent := 0
				for b.Loop() {
					if sent++; sent%batch == 0 {
						src.Send(out)
					}
				}
				close(stop)
				<-done
				b.ReportMetric(float64(got)/float64(sent), "arrived")
			})
		}
	}
}

package shm

import (
	"testing"

	"weft/internal/transport"
	"weft/internal/transport/transporttest"
)

func TestTransport(t *testing.T) {
	transporttest.Run(t, func(t testing.TB, p transporttest.Place) (transport.Transport, transport.Doorbell) {
		s, err := Open(Config{Rank: p.Rank, Size: p.Size, Job: 1, Secret: make([]byte, 32), Events: p.Events})
		if err != nil {
			t.Fatal(err)
		}
		return s, s.Doorbell()
	})
}

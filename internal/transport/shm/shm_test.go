package shm

import (
	"testing"

	"weft/internal/transport"
	"weft/internal/transport/transporttest"
)

func TestTransport(t *testing.T) {
	transporttest.Run(t, func(t testing.TB, rank, size int, _ transport.Doorbell, ev transport.Events) (transport.Transport, transport.Doorbell) {
		s, err := Open(Config{Rank: rank, Size: size, Job: 1, Secret: make([]byte, 32), Events: ev})
		if err != nil {
			t.Fatal(err)
		}
		return s, s.Doorbell()
	})
}

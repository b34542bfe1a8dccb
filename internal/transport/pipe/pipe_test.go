package pipe

import (
	"sync"
	"testing"

	"weft/internal/transport"
	"weft/internal/transport/transporttest"
)

func TestTransport(t *testing.T) {
	var mu sync.Mutex
	networks := map[testing.TB]*Network{} // one for each test
	transporttest.Run(t, func(t testing.TB, rank, size int, bell transport.Doorbell, ev transport.Events) (transport.Transport, transport.Doorbell) {
		mu.Lock()
		net := networks[t]
		if net == nil {
			net = NewNetwork()
			net.Direct = true
			networks[t] = net
		}
		mu.Unlock()
		p, err := net.Open(rank, bell, ev)
		if err != nil {
			t.Fatal(err)
		}
		return p, bell
	})
}

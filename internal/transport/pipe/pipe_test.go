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
	transporttest.Run(t, func(t testing.TB, p transporttest.Place) (transport.Transport, transport.Doorbell) {
		mu.Lock()
		net := networks[t]
		if net == nil {
			net = NewNetwork()
			net.Direct = true
			networks[t] = net
		}
		mu.Unlock()
		end, err := net.Open(p.Rank, p.Bell, p.Events)
		if err != nil {
			t.Fatal(err)
		}
		return end, p.Bell
	})
}

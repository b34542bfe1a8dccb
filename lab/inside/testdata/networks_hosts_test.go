package weft

import (
	"context"
	"errors"
	"hash/crc32"
	"os"
	"testing"
	"time"

	"weft/internal/explore"
	"weft/lab/netlab"
	"weft/lab/netlab/netlabtest"
)

// A condition is what is wrong with the network between hosts, and a transport over it.
type condition struct {
	name      string
	transport Transport
	make      func(hosts, mtu int) (*netlab.Lab, error)

	// begin makes it so until end is called.
	begin func(t testing.TB, l *netlab.Lab) (end func() error)
}

var conditions = []condition{
	{"router", TransportAuto, netlab.MakeRouted, nothing},
	{"router that narrows", TransportUDP, netlab.MakeRouted, changing(narrowRouter)},
	{"route that narrows", TransportUDP, netlab.Make, changing(narrowRoute)},
	{"route that narrows", TransportEth, netlab.Make, changing(narrowRoute)},
	{"no offload", TransportUDP, netlab.Make, noOffload},
	{"no offload", TransportEth, netlab.Make, noOffload},
	{"batches dropped", TransportUDP, netlab.Make, trouble(netlab.Trouble{Batches: true})},
	{"batches dropped", TransportEth, netlab.Make, trouble(netlab.Trouble{Batches: true})},
	{"batches twice and overtaken", TransportUDP, netlab.Make, trouble(netlab.Trouble{Repeat: 0.1, Overtake: 0.1})},
	{"batches twice and overtaken", TransportEth, netlab.Make, trouble(netlab.Trouble{Repeat: 0.1, Overtake: 0.1})},
}

func narrowRouter(l *netlab.Lab, mtu int) error {
	return errors.Join(l.Narrow(0, mtu), l.Hosts[1].Forget()) // the sender forgets what the router has said
}

func narrowRoute(l *netlab.Lab, mtu int) error { return l.Hosts[0].SetRouteMTU(mtu) }

func noOffload(t testing.TB, l *netlab.Lab) (end func() error) {
	for _, h := range l.Hosts {
		must(t, h.SetOffload(false))
	}
	return nothing(t, l)
}

func nothing(testing.TB, *netlab.Lab) func() error { return func() error { return nil } }

func trouble(what netlab.Trouble) func(t testing.TB, l *netlab.Lab) func() error {
	return func(t testing.TB, l *netlab.Lab) func() error {
		end, err := l.Trouble(what)
		must(t, err)
		return end
	}
}

// changing makes packets of more than 1280 bytes too long for a path, and lets them pass again, over and over.
func changing(narrow func(l *netlab.Lab, mtu int) error) func(t testing.TB, l *netlab.Lab) func() error {
	return func(t testing.TB, l *netlab.Lab) func() error {
		const each = 5 * time.Millisecond
		over := make(chan struct{})
		failed := make(chan error, 1)
		go func() {
			next := time.NewTicker(each)
			defer next.Stop()
			for mtu := 1280; ; mtu = 1280 - mtu {
				select {
				case <-over:
					failed <- nil
					return
				case <-next.C:
				}
				if err := narrow(l, mtu); err != nil {
					failed <- err
					return
				}
			}
		}()
		return func() error {
			close(over)
			return <-failed
		}
	}
}

// overHosts runs a test between hosts, of which each has one rank, under one of the conditions, which is another one
// for another test, and in another round of exploration.
func overHosts(t *testing.T, n int, run func(ctx context.Context, p *Proc) error) {
	if raceEnabled || os.Getuid() != 0 {
		return // the race detector has seen other networks; only root can make hosts
	}
	turn := (uint64(crc32.ChecksumIEEE([]byte(t.Name()))) + explore.Round()) % uint64(len(conditions))
	c := conditions[turn]
	t.Run(c.name+", "+string(c.transport), func(t *testing.T) {
		l := netlabtest.New(t, func() (*netlab.Lab, error) { return c.make(max(n, 2), 1500) })
		end := c.begin(t, l)
		defer func() { must(t, end()) }()
		if err := runAll(within(t), joinOver(t, c.transport, l, n), run); err != nil {
			t.Fatal(err)
		}
	})
}

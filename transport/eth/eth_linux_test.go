package eth

import (
	"errors"
	"os"
	"testing"

	"weft/internal/lab"
	"weft/internal/sys"
	"weft/transport"
	"weft/transport/transporttest"
)

// network makes hosts for a test, or skips it.
func network(t testing.TB, hosts, mtu int) *lab.Lab {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("hosts are network namespaces, which only root can make")
	}
	l, err := lab.Make(hosts, mtu)
	if errors.Is(err, os.ErrPermission) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Remove(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// on opens a transport on a host.
func on(t testing.TB, h lab.Host, cfg Config) (e *Transport) {
	t.Helper()
	err := sys.InNetwork(h.Namespace, func() (err error) {
		cfg.Interface = lab.Interface
		e, err = Open(cfg)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestTransport(t *testing.T) {
	for name, mtu := range map[string]int{"1500": 1500, "9000": 9000} {
		t.Run(name, func(t *testing.T) {
			l := network(t, 8, mtu)
			transporttest.Run(t, func(t testing.TB, rank, size int, bell transport.Doorbell, ev transport.Events) (transport.Transport, transport.Doorbell) {
				return on(t, l.Hosts[rank], Config{Job: 7, Rank: rank, Bell: bell}), bell
			})
		})
	}
}

package fabric

import (
	"cmp"
	"errors"
	"net"
	"os"
	"testing"

	"weft/fabric/internal/ofi"
	"weft/internal/doorbell"
	"weft/internal/handshake"
	"weft/internal/join"
	"weft/internal/transport"
	"weft/internal/transport/transporttest"
)

// providers work without a device. The environment may name one provider in their place, for a host with a device.
var providers = []string{"shm", "tcp;ofi_rxm", "net", "udp;ofi_rxd"}

// one is the provider of tests for which one is enough.
var one = "net"

// bind is the address of the ranks.
var bind = cmp.Or(os.Getenv(join.EnvBind), "127.0.0.1")

func init() {
	if name := os.Getenv(join.EnvFabric); name != "" {
		providers = []string{name}
		one = name
	}
}

// over runs a test over each provider that is there.
func over(t *testing.T, test func(t *testing.T, provider string)) {
	need(t)
	for _, name := range providers {
		t.Run(name, func(t *testing.T) { test(t, name) })
	}
}

// need skips a test without libfabric.
func need(t testing.TB) {
	t.Helper()
	if _, err := ofi.Load(3); errors.Is(err, ofi.ErrMissing) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
}

// rank opens a rank of job 7.
func rank(
	t testing.TB, provider string, rank, size int, secret string, bell transport.Doorbell, ev transport.Events,
) *Transport {
	t.Helper()
	e, err := Open(join.FabricConfig{
		Provider: provider, Bind: bind + ":0", Rank: rank, Size: size, Job: 7, Secret: []byte(secret), Bell: bell, Events: ev,
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestTransport(t *testing.T) {
	over(t, func(t *testing.T, provider string) {
		transporttest.Run(t, func(t testing.TB, p transporttest.Place) (transport.Transport, transport.Doorbell) {
			return rank(t, provider, p.Rank, p.Size, "secret", p.Bell, p.Events), p.Bell
		})
	})
}

func TestStrangers(t *testing.T) {
	need(t)
	transporttest.Strangers(t, transporttest.Guarded{
		Open: func(t testing.TB, id transporttest.Identity, ev transport.Events) transport.Transport {
			e, err := Open(join.FabricConfig{
				Provider: one, Bind: bind + ":0", Rank: id.Rank, Size: id.Size, Job: id.Job, Secret: []byte(id.Secret),
				Bell: doorbell.NewChan(), Events: ev,
			})
			if err != nil {
				t.Fatal(err)
			}
			return e
		},
		Pair: func(dialler, listener uint32) handshake.Pair {
			return handshake.Pair{Secret: []byte("secret"), Job: 7, Dialler: dialler, Listener: listener}
		},
		Protocol: protocol,
		Listen: func() (net.Listener, string, error) {
			l, err := net.Listen("tcp", bind+":0")
			if err != nil {
				return nil, "", err
			}
			return l, l.Addr().String() + " " + one, nil
		},
		Knock: func(card string) (net.Conn, error) {
			at, _, err := parseCard(card)
			if err != nil {
				return nil, err
			}
			return net.Dial("tcp", at)
		},
		Say:      func(c net.Conn, b []byte) error { _, err := c.Write(b); return err },
		Hear:     func(c net.Conn, b []byte) (int, error) { return c.Read(b) },
		Failures: func(t transport.Transport) uint64 { return t.(*Transport).door.Failures.Load() },
	})
}
